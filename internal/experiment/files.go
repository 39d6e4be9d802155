package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// tableOptions are the options of people's own files.
func tableOptions(d configs.Data) table.Options {
	return table.Options{
		Label: d.Label, Task: table.Task(d.Task), Classes: d.Classes, Ignore: d.Ignore,
		Categories: d.Categories, Clip: d.Clip, Scale: d.Scale,
	}
}

// ownFiles are the files of an experiment on files of one's own, from its plan to its training.
type ownFiles struct {
	private *table.File    // open, and its rows counted
	public  *table.Samples // all rows of the public file, which is closed
}

func (f *ownFiles) close() error {
	if f == nil {
		return nil
	}
	return f.private.Close()
}

// readPublic reads the public test file, by the schema that follows from it and the settings.
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

// countRows opens a training file and counts its rows.
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

// sameFile tells whether two paths lead to one file, however they are written. What isn't there is for others to say.
func sameFile(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// explainedTable tells an option by the setting that it comes from.
func explainedTable(err error) error {
	var option *table.OptionError
	if errors.As(err, &option) {
		return usagef("data.%w", option)
	}
	return err
}

// describeFiles counts rows, and reads nothing else of the training file. It reads public rows as they will be read, and
// builds the network, so that a plan fails of what the run would fail of.
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
	s.Train = n
	return s, &ownFiles{private, public}, nil
}

// muchScaled is the magnitude above which no value of a column is that was shifted and scaled to be about 1.
const muchScaled = 50

// largeColumns names the columns whose values want scaling, as the public rows tell, and whether all of them have a
// scale, so that clipping is what helps.
func largeColumns(s *table.Schema, public *table.Samples) (names []string, scaled bool) {
	scaled = true
	for i, v := range s.Largest(public) {
		if v > muchScaled {
			names = append(names, s.Columns[i].Name)
			scaled = scaled && s.Columns[i].Scale != nil
		}
	}
	return names, scaled && len(names) > 0
}

// warning reports what spoils a model more than noise does: a few large values take all of a clipped gradient.
func (s Samples) warning(test string) string {
	names, shown := s.large, s.large
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > 5 {
		shown, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	columns, file := strings.Join(shown, ", ")+more, filepath.Base(test)
	if s.outliers {
		return fmt.Sprintf("values far above 1 in %s of %s, scaled as they are: a few outliers drown the other rows; %s", columns, file, s.closerClip())
	}
	return fmt.Sprintf("values far above 1 in %s of %s: a model learns little from columns that aren't scaled; \"dptrain data describe\" suggests --scale and --clip from public rows", columns, file)
}

// closerClip returns the remedy for outliers of scaled columns, with the first as the example: ten divisors on either
// side, in so many digits that a large shift leaves them apart.
func (s Samples) closerClip() string {
	name := s.large[0]
	example := ""
	for _, c := range s.Schema.Columns {
		if c.Name == name {
			low, high := c.Scale.Shift-10*c.Scale.Divisor, c.Scale.Shift+10*c.Scale.Divisor
			example = fmt.Sprintf(", as in --clip %s=%.9g,%.9g", name, min(low, high), max(low, high))
		}
	}
	return "clip closer by public constants" + example
}

// load reads the private rows and closes their file.
func (f *ownFiles) load(d configs.Data, s Samples) (out loaded, err error) {
	schema, public := s.Schema, f.public
	private, err := schema.Read(f.private, table.Training)
	if err = errors.Join(err, f.close()); err != nil {
		return loaded{}, err
	}
	if private.N != s.Train {
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
	return loaded{train: training.Inputs(), test: test, privateWarning: overlap, model: report.Model{
		Shape: schema.Shape, Outputs: schema.Outputs(), Task: string(schema.Label.Task), Classes: schema.Label.Classes, Input: input,
	}}, nil
}

// checkOverlap refuses a test file that is the training file, or a part of it, and returns a warning where the two
// share more rows than chance explains. What it says depends on private rows: it is for standard error and the
// private log.
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

func labelled(s *table.Schema, rows *table.Samples) (train.Labelled, error) {
	if s.Label.Task == table.Regression {
		return train.NewRegression(rows.Values, rows.Numbers)
	}
	return train.NewClassification(rows.Values, rows.Classes, s.Outputs())
}
