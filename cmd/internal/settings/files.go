package settings

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/datasets/table"
)

// Files is the name of the data set for the user's own files. [Data] holds its settings.
const Files = "files"

// Data is the block about the user's own files: their paths, and how their rows become samples (see package
// datasets/table). Paths are relative to the working directory. All other settings are public, and must not be chosen
// by looking at the training rows.
type Data struct {
	Train      string                   `yaml:"train,omitempty"` // private
	Test       string                   `yaml:"test,omitempty"`  // public: selects trials, gives missing settings
	Label      string                   `yaml:"label,omitempty"` // a column, or an array of an NPZ file
	Text       string                   `yaml:"text,omitempty"`  // the column of texts, the only one to learn from
	Task       string                   `yaml:"task,omitempty"`
	Classes    []string                 `yaml:"classes,flow,omitempty"`
	Ignore     []string                 `yaml:"ignore,flow,omitempty"`
	Columns    []string                 `yaml:"columns,flow,omitempty"` // to learn from; empty: the test file's
	Shapes     map[string][]int         `yaml:"shapes,omitempty"`       // of arrays, by column; as the test file shows
	Categories map[string][]string      `yaml:"categories,omitempty"`   // by column
	Missing    map[string]table.Missing `yaml:"missing,omitempty"`      // by column of numbers
	Written    map[string]string        `yaml:"written,omitempty"`      // by column: an example such as 1,5, or date
	Clip       map[string][2]float64    `yaml:"clip,omitempty"`         // minimum and maximum; * is all of numbers
	Scale      map[string][2]float64    `yaml:"scale,omitempty"`        // shift and divisor: (x - shift)/divisor

	Unit        string `yaml:"unit,omitempty"`          // the column that names a training row's unit
	RowsPerUnit int    `yaml:"rows_per_unit,omitempty"` // the maximum number of rows kept of each
}

// given reports whether there is a file.
func (d Data) given() bool { return d.Train != "" || d.Test != "" }

// validateData checks the settings of files that package table doesn't check.
func (e Experiment) validateData() error {
	d := e.Data
	if e.Dataset != Files {
		switch {
		case d.given():
			return fmt.Errorf("data: files of one's own are given with data set %s; give one of the two", e.Dataset)
		case !reflect.ValueOf(d).IsZero():
			return fmt.Errorf("data: labels, columns and their like are those of files of your own, and the data set is %s; give files by --train FILE and --test FILE", e.Dataset)
		}
		return nil
	}
	return cmp.Or(
		require(!slices.Contains(d.Ignore, ""), "data.ignore: an empty name; list the names of columns"),
		require(!slices.Contains(d.Classes, ""), "data.classes: an empty class, which no label can be; list classes alone"),
		d.validateUnit(),
		require(e.TextLength == 0 || d.Text != "",
			"text_length: nothing says which column has texts; name it by --text COLUMN, or leave the length out"),
	)
}

// Complete returns an error if training on own files lacks a setting.
//
// Held-out private samples select in place of public test rows, which may then be missing.
func (d Data) Complete(heldOut bool) error {
	switch {
	case d.Train == "":
		return errors.New("data.train: give the file with the private training rows by --train FILE")
	case d.Test == "" && !heldOut:
		return errors.New("data.test: give a file with public test rows by --test FILE: it selects, and says what columns and classes there are; without any, list the columns by \"dptrain data schema\": then a linear model takes none, whose hyperparameters a rule gives, and \"dptrain train\" none, and \"dptrain tune --holdout 0.1\" selects on private rows")
	case d.Label == "":
		return errors.New("data.label: name the column that holds the labels by --label NAME")
	}
	return nil
}

// MaxRowsPerUnit is the largest data.rows_per_unit: accountant.MaxRows.
const MaxRowsPerUnit = 128

// validateUnit checks the column of units, each of which is protected with all of its rows.
func (d Data) validateUnit() error {
	switch {
	case d.Unit == "" && d.RowsPerUnit == 0:
		return nil
	case d.Unit == "":
		return errors.New("data.rows_per_unit: no column says whose the rows are; name it by --unit COLUMN")
	case d.RowsPerUnit == 0:
		return errors.New("data.rows_per_unit: say how many rows of each unit are kept at most, by --rows-per-unit M; M is public, so don't look for it in the training file, and fewer rows need less noise")
	case d.RowsPerUnit < 0 || d.RowsPerUnit > MaxRowsPerUnit:
		return fmt.Errorf("data.rows_per_unit: must be a whole number from 1 to %d, got %d", MaxRowsPerUnit, d.RowsPerUnit)
	}
	return nil
}
