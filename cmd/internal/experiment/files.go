package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/internal/sketch"
	"github.com/dptrain/dptrain/train"
)

// tableOptions returns the settings as options of package table.
func tableOptions(e settings.Experiment) table.Options {
	d := e.Data
	return table.Options{
		Label: d.Label, Task: table.Task(d.Task), Classes: d.Classes, Ignore: d.Ignore,
		Columns: d.Columns, Shapes: d.Shapes, Categories: d.Categories, Missing: d.Missing, Written: d.Written, Clip: d.Clip, Scale: d.Scale,
		Unit: d.Unit, Text: d.Text, TextLength: e.TextLength,
	}
}

// ownFiles holds a person's own files between [New] and [Plan.Load].
type ownFiles struct {
	private *table.File    // open
	public  *table.Samples // all rows of the public file; nil if there is none
	units   *table.Units   // of the private file; nil if a row is the unit
}

// publicRows returns the public rows, or nil if there are none.
func (f *ownFiles) publicRows() *table.Samples {
	if f == nil {
		return nil
	}
	return f.public
}

func (f *ownFiles) close() error {
	if f == nil {
		return nil
	}
	return f.private.Close()
}

// readPublic infers the schema from settings and the public test file, and reads its rows. There is no such file if
// private samples are held out to score models, or if nothing is tuned and the settings list the columns. The schema
// then follows from the settings alone, and there are no rows. file is the public file, closed, or nil.
func readPublic(e settings.Experiment, tune bool) (s *table.Schema, rows *table.Samples, file *table.File, err error) {
	d := e.Data
	if err := d.Complete(e.Privacy.Holdout > 0 || !tune && len(d.Columns) > 0); err != nil {
		return nil, nil, nil, &Error{Usage, err}
	}
	if d.Test == "" {
		if s, err = table.SchemaOf(tableOptions(e)); err != nil {
			return nil, nil, nil, explainedTable(err, "; without public test rows the settings say what columns and classes there are: \"dptrain data schema\" writes them")
		}
		if tune && s.Label.Task == table.Regression && s.Label.Scale == nil {
			return nil, nil, nil, usagef("data.scale: the label %s has no scale, and scores on held-out rows count errors in units of it; give --scale %[1]s=MIDDLE,SPREAD, with a usual value and a usual distance from it", s.Label.Name)
		}
		return s, nil, nil, nil
	}
	if sameFile(d.Train, d.Test) {
		return nil, nil, nil, usagef("data.test: %s and %s are one file: the training file is private and the test file public; give two files", d.Train, d.Test)
	}
	if file, err = table.Open(d.Test); err != nil {
		return nil, nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if s, err = table.Infer(file, tableOptions(e)); err != nil {
		return nil, nil, nil, explainedTable(err, "")
	}
	rows, err = s.ReadPublic(file)
	return s, rows, file, err
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

// sameFile reports whether two paths lead to one file, however they are written. It is false if there is no file.
func sameFile(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// explainedTable renames a table's option in an error to the setting, and adds a remedy to it.
func explainedTable(err error, remedy string) error {
	if option, ok := errors.AsType[*table.OptionError](err); ok {
		return usagef("data.%w%s", option, remedy)
	}
	return err
}

// describeFiles reads the public rows, counts the private ones and builds the network, so that a plan fails wherever
// its run would.
func describeFiles(e settings.Experiment, tune bool) (Samples, *ownFiles, error) {
	schema, public, test, err := readPublic(e, tune)
	if err != nil {
		return Samples{}, nil, err
	}
	if _, err := modelOf(describeModel(e, release.Model{Shape: schema.Shape, Vocabulary: wordsOf(schema), Outputs: schema.Outputs()})); err != nil {
		return Samples{}, nil, err
	}
	s := Samples{Schema: schema}
	var spans [][]table.Range
	if public != nil {
		s.Test, spans = public.N, schema.Spans(public)
		s.large, s.outliers = largeColumns(schema, spans)
		if squaredError(e, schema) {
			s.stable = stableRate(schema, public)
		}
	}
	private, n, err := countRows(schema, e.Data.Train)
	if err != nil {
		return Samples{}, nil, err
	}
	if public == nil {
		if err := tableOptions(e).CheckColumns(private); err != nil {
			return Samples{}, nil, errors.Join(err, private.Close())
		}
	}
	s.notes, s.left = fileNotes(e.Data, schema, public, spans, test, private), leftOut(e.Data, schema, test.Columns())
	files := &ownFiles{private: private, public: public}
	if s.Train, files.units, err = countUnits(e.Data, private, n); err != nil {
		return Samples{}, nil, errors.Join(err, private.Close())
	}
	return s, files, nil
}

// load reads the private rows and closes their file. It returns an [Error] if their number isn't the plan's.
func (f *ownFiles) load(ctx context.Context, d settings.Data, s Samples, progress Follower) (out loaded, err error) {
	schema, public := s.Schema, f.public
	var publicTokens *tokenised // made first: without a vocabulary it is no use to read private rows
	if public == nil {
		_, err = tokensOf(ctx, schema, &table.Samples{}, progress)
	} else {
		publicTokens, err = tokensOf(ctx, schema, public, progress)
	}
	if err != nil {
		return loaded{}, errors.Join(err, f.close())
	}
	private, err := schema.Read(f.private, table.Training)
	var content sketch.Sketch
	if err == nil {
		content, err = f.private.Sketch()
	}
	if err = errors.Join(err, f.close()); err != nil {
		return loaded{}, err
	}
	privateTokens, err := tokensOf(ctx, schema, private, progress)
	if err != nil {
		return loaded{}, err
	}
	units, err := f.unitRows(d, schema, private, privateTokens)
	if err != nil {
		return loaded{}, err
	}
	if units.count(private.N) != s.Train {
		return loaded{}, inputf("%s: %s rows, and the plan is for %s; run again when nothing writes to the file", d.Train, release.Grouped(private.N), release.Grouped(s.Train))
	}
	rows := schema.Overlap(private, cmp.Or(public, &table.Samples{}))
	overlap, err := checkOverlap(d, rows)
	if err != nil {
		return loaded{}, err
	}
	training, err := labelled(schema, private, privateTokens)
	if err != nil {
		return loaded{}, fmt.Errorf("%s: %w", d.Train, err)
	}
	var test train.Labelled
	if public != nil {
		if test, err = labelled(schema, public, publicTokens); err != nil {
			return loaded{}, fmt.Errorf("%s: %w", d.Test, err)
		}
	}
	input, err := json.Marshal(inputOf{Table: schema})
	if err != nil {
		return loaded{}, fmt.Errorf("encode the schema: %w", err)
	}
	if overlap == "" && public != nil {
		overlap, err = sharedUnits(d, f.units)
	}
	if err != nil {
		return loaded{}, err
	}
	version := 0 // the oldest that there is for the model
	if schema.Notated() {
		version = release.Notated
	}
	return loaded{units: units, train: training.Inputs(), test: test, whole: training, privateWarning: overlap, oddities: oddities(d, schema, private, public, rows), identity: ledger.OfFile(filepath.Base(d.Train), s.Train, content), model: release.Model{
		Version: version,
		Shape:   schema.Shape, Vocabulary: privateTokens.size(), Outputs: schema.Outputs(), Task: string(schema.Label.Task), Classes: schema.Label.Classes, Input: input,
	}}, nil
}

// oddities says what is odd about the private rows: many more equal ones than the share of public rows that equal one
// of them explains, as in an oversampled file, columns whose numbers often lie beyond the clip constants, as in another
// unit, and columns whose cells are no listed category much more often than the public ones, as if written otherwise.
// It is private.
func oddities(d settings.Data, s *table.Schema, private, public *table.Samples, o table.Overlap) (notes []string) {
	const muchRepeated, muchClipped = 0.1, 0.1
	shared := float64(o.Shared) / float64(max(1, o.Public))
	if r := o.Repeated; float64(r.Rows)/float64(private.N)-shared >= muchRepeated {
		times := fmt.Sprint(r.Most)
		if r.Least < r.Most {
			times = fmt.Sprintf("%d to %d", r.Least, r.Most)
		}
		note := fmt.Sprintf("%s different rows, as they are trained on, occur %s times, %s of the %s rows",
			release.Grouped(r.Different), times, release.Grouped(r.Rows), release.Grouped(private.N))
		if d.Unit == "" {
			note += ": if these are copies of a person's row, the guarantee for one row isn't one for the person; keep one of each, or name the person by --unit"
		}
		notes = append(notes, note)
	}
	for i, share := range private.Clipped {
		c, expected := s.Columns[i], 0.0
		if len(c.Categories) > 0 {
			if expected = 0.8; public != nil { // without public rows a list may be meant to be short
				expected = public.Clipped[i]
			}
		}
		switch {
		case share-expected < muchClipped:
		case len(c.Categories) > 0:
			notes = append(notes, fmt.Sprintf("%.0f %% of the cells of %s are none of its categories, and count as \"*\"; are they written otherwise, such as Yes for yes?", 100*share, c.Name))
		default:
			notes = append(notes, fmt.Sprintf("%.0f %% of the cells of %s are clipped: they lie beyond %v to %v; is the column in another unit?", 100*share, c.Name, c.Clip.Low, c.Clip.High))
		}
	}
	return notes
}

// checkOverlap returns an error for a test file whose rows are all training rows, and a warning where the files share
// more rows than chance explains. Both depend on private rows: they are for standard error and the private log.
func checkOverlap(d settings.Data, o table.Overlap) (warning string, err error) {
	train, test := filepath.Base(d.Train), filepath.Base(d.Test)
	switch {
	case o.All():
		return "", inputf("data.test: all %s rows of %s are rows of %s too, and test rows are public: the guarantee protects none of them; give test rows that aren't trained on",
			release.Grouped(o.Public), test, train)
	case o.Many():
		return fmt.Sprintf("%s of the %s rows of %s are rows of %s too: test rows are public, and the guarantee protects none of them; this count is private",
			release.Grouped(o.Shared), release.Grouped(o.Public), test, train), nil
	}
	return "", nil
}

// labelled returns rows, or the tokens that their texts are, with their labels. It keeps the memory of the rows.
func labelled(s *table.Schema, rows *table.Samples, t *tokenised) (train.Labelled, error) {
	samples := given.Away(t.columns(rows)...)
	if s.Label.Task == table.Regression {
		return train.RegressionOf(samples, rows.Numbers)
	}
	return train.ClassificationOf(samples, rows.Classes, s.Outputs())
}
