package configs

import (
	"errors"
	"fmt"
	"slices"
)

// Files is the name of the data set for the user's own files. [Data] holds its settings.
const Files = "files"

// Data is the block about the user's own files: their paths, and how their rows become samples (see package
// datasets/table). Paths are relative to the working directory. All other settings are public, and must not be chosen
// by looking at the training rows.
type Data struct {
	Train      string                `yaml:"train,omitempty"` // private
	Test       string                `yaml:"test,omitempty"`  // public: selects the best trial, says what isn't given
	Label      string                `yaml:"label,omitempty"` // a column, or an array of an NPZ file
	Task       string                `yaml:"task,omitempty"`
	Classes    []string              `yaml:"classes,flow,omitempty"`
	Ignore     []string              `yaml:"ignore,flow,omitempty"`
	Categories map[string][]string   `yaml:"categories,omitempty"` // by column
	Clip       map[string][2]float64 `yaml:"clip,omitempty"`       // minimum and maximum; * is every column of numbers
	Scale      map[string][2]float64 `yaml:"scale,omitempty"`      // shift and divisor: (x - shift)/divisor

	Unit        string `yaml:"unit,omitempty"`          // the column that says whose a training row is
	RowsPerUnit int    `yaml:"rows_per_unit,omitempty"` // the most rows that are kept of each
}

// given reports whether a file is given.
func (d Data) given() bool { return d.Train != "" || d.Test != "" }

// validateData checks the settings of files as far as that is possible without the files.
func (e Experiment) validateData() error {
	d := e.Data
	if e.Dataset != Files {
		switch {
		case d.given():
			return fmt.Errorf("data: files of one's own are given with data set %s; give one of the two", e.Dataset)
		case d.Label != "" || d.Task != "" || d.Classes != nil || d.Ignore != nil || d.Categories != nil || d.Clip != nil || d.Scale != nil || d.Unit != "" || d.RowsPerUnit != 0:
			return fmt.Errorf("data: labels, columns and their like are those of files of your own, and the data set is %s; give files by --train FILE and --test FILE", e.Dataset)
		}
		return nil
	}
	if slices.Contains(d.Ignore, "") {
		return errors.New("data.ignore: an empty name; list the names of columns")
	}
	if slices.Contains(d.Classes, "") {
		return errors.New("data.classes: an empty class, which no label can be; list classes alone")
	}
	if err := d.validateUnit(); err != nil {
		return err
	}
	if d.Task == "" {
		return nil // it is inferred from the public test file
	}
	return oneOf("data.task", d.Task, "classification", "regression")
}

// Complete returns an error if a setting that training on own files needs is missing, or if both files have the same
// path.
func (d Data) Complete() error {
	switch {
	case d.Train == "":
		return errors.New("data.train: give the file with the private training rows by --train FILE")
	case d.Test == "":
		return errors.New("data.test: give a file with public test rows by --test FILE: it selects, and says what columns and classes there are")
	case d.Label == "":
		return errors.New("data.label: name the column that holds the labels by --label NAME")
	case d.Train == d.Test:
		return errors.New("data.test: the training file is private and the test file public: give two files")
	}
	return nil
}
