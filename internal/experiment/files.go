package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// tableOptions returns the settings as options of package table.
func tableOptions(d configs.Data) table.Options {
	return table.Options{
		Label: d.Label, Task: table.Task(d.Task), Classes: d.Classes, Ignore: d.Ignore,
		Categories: d.Categories, Clip: d.Clip, Scale: d.Scale, Unit: d.Unit,
	}
}

// ownFiles holds a person's own files between [New] and [Plan.Load].
type ownFiles struct {
	private *table.File    // open
	public  *table.Samples // all rows of the public file
	units   *table.Units   // of the private file; nil if a row is the unit
}

func (f *ownFiles) close() error {
	if f == nil {
		return nil
	}
	return f.private.Close()
}

// readPublic infers the schema from settings and the public test file, and reads its rows.
func readPublic(d configs.Data) (s *table.Schema, rows *table.Samples, err error) {
	if err := d.Complete(); err != nil {
		return nil, nil, &Error{Usage, err}
	}
	if sameFile(d.Train, d.Test) {
		return nil, nil, usagef("data.test: %s and %s are one file: the training file is private and the test file public; give two files", d.Train, d.Test)
	}
	options := tableOptions(d)
	if err := options.Validate(); err != nil {
		return nil, nil, explainedTable(err)
	}
	file, err := table.Open(d.Test)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if s, err = table.Infer(file, options); err != nil {
		return nil, nil, explainedTable(err)
	}
	rows, err = s.Read(file, table.Testing)
	return s, rows, table.Cited(err)
}

// countRows opens a training file and counts its rows. The caller has to close the file.
func countRows(s *table.Schema, path string) (*table.File, int, error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, 0, err
	}
	n, err := s.Count(file)
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, n, nil
}

// sameFile reports whether two paths, however they are written, lead to one file. Paths that lead nowhere don't.
func sameFile(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// explainedTable names an option by its setting.
func explainedTable(err error) error {
	var option *table.OptionError
	if errors.As(err, &option) {
		return usagef("data.%w", option)
	}
	return err
}

// describeFiles reads the public rows, counts the private ones and builds the network, so that a plan fails wherever
// its run would.
func describeFiles(e configs.Experiment) (Samples, *ownFiles, error) {
	schema, public, err := readPublic(e.Data)
	if err != nil {
		return Samples{}, nil, err
	}
	if _, err := modelOf(describeModel(e, report.Model{Shape: schema.Shape, Outputs: schema.Outputs()})); err != nil {
		return Samples{}, nil, err
	}
	s := Samples{Schema: schema, Test: public.N}
	s.large, s.outliers = largeColumns(schema, public)
	private, n, err := countRows(schema, e.Data.Train)
	if err != nil {
		return Samples{}, nil, err
	}
	files := &ownFiles{private: private, public: public}
	if s.Train, files.units, err = countUnits(e.Data, private, n); err != nil {
		return Samples{}, nil, errors.Join(err, private.Close())
	}
	return s, files, nil
}

// load reads the private rows and closes their file. Rows in another number than the plan's are an [Error].
func (f *ownFiles) load(d configs.Data, s Samples) (out loaded, err error) {
	schema, public := s.Schema, f.public
	private, err := schema.Read(f.private, table.Training)
	var content table.Sketch
	if err == nil {
		content, err = table.SketchOf(f.private)
	}
	if err = errors.Join(err, f.close()); err != nil {
		return loaded{}, err
	}
	units, err := f.unitRows(d, schema, private)
	if err != nil {
		return loaded{}, err
	}
	if units.count(private.N) != s.Train {
		return loaded{}, inputf("%s: %s rows, and the plan is for %s; run again when nothing writes to the file", d.Train, report.Grouped(private.N), report.Grouped(s.Train))
	}
	overlap, err := checkOverlap(d, schema.Overlap(private, public))
	if err != nil {
		return loaded{}, err
	}
	training, err := labelled(schema, private)
	if err != nil {
		return loaded{}, fmt.Errorf("%s: %w", d.Train, err)
	}
	test, err := labelled(schema, public)
	if err != nil {
		return loaded{}, fmt.Errorf("%s: %w", d.Test, err)
	}
	input, err := json.Marshal(inputOf{Table: schema})
	if err != nil {
		return loaded{}, fmt.Errorf("encode the schema: %w", err)
	}
	if overlap == "" {
		overlap, err = sharedUnits(d, f.units)
	}
	if err != nil {
		return loaded{}, err
	}
	return loaded{units: units, train: training.Inputs(), test: test, privateWarning: overlap, identity: ledger.OfFile(filepath.Base(d.Train), s.Train, content), model: report.Model{
		Shape: schema.Shape, Outputs: schema.Outputs(), Task: string(schema.Label.Task), Classes: schema.Label.Classes, Input: input,
	}}, nil
}

// checkOverlap returns an error for a test file whose rows are all training rows, and a warning where the files share
// more rows than chance explains. Both depend on private rows: they are for standard error and the private log.
func checkOverlap(d configs.Data, o table.Overlap) (warning string, err error) {
	train, test := filepath.Base(d.Train), filepath.Base(d.Test)
	switch {
	case o.All():
		return "", inputf("data.test: all %s rows of %s are rows of %s too, and test rows are public: the guarantee protects none of them; give test rows that aren't trained on",
			report.Grouped(o.Public), test, train)
	case o.Many():
		return fmt.Sprintf("%s of the %s rows of %s are rows of %s too: test rows are public, and the guarantee protects none of them; this count is private",
			report.Grouped(o.Shared), report.Grouped(o.Public), test, train), nil
	}
	return "", nil
}

// labelled returns rows with their labels. It keeps the memory of the rows.
func labelled(s *table.Schema, rows *table.Samples) (train.Labelled, error) {
	samples := given.Away(train.Column{Floats: rows.Values})
	if s.Label.Task == table.Regression {
		return train.RegressionOf(samples, rows.Numbers)
	}
	return train.ClassificationOf(samples, rows.Classes, s.Outputs())
}
