package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/features"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/ui"
	"github.com/dptrain/dptrain/train"
)

// fileFlags are the settings of people's own files that are given once.
var fileFlags = []struct{ flag, key, kind, usage string }{
	{"train", "data.train", "file", "private training rows of your own: " + strings.Join(table.Formats(), ", ")},
	{"test", "data.test", "file", "public test rows, which select and say what columns and classes there are"},
	{"label", "data.label", "name", "column, or NPZ array, that holds the labels"},
	{"task", "data.task", "name", "classification or regression; without it the public test file decides"},
	{"classes", "data.classes", "list", "all classes, such as no,yes, if the public test file lacks some"},
	{"ignore", "data.ignore", "list", "columns to leave out"},
}

// columnFlags are those that are given for each column, which is part of their value: age=0,120.
var columnFlags = []struct{ flag, key, usage string }{
	{"categories", "data.categories", "categories of a column, as `column=a,b,c`; * for all others, nothing for missing ones; may be repeated"},
	{"clip", "data.clip", "lowest and highest value of a column, as `column=0,120`; public constants; * for all columns; may be repeated"},
	{"scale", "data.scale", "shift and divisor of a column, as `column=40,12` for (x-40)/12; public constants; * for all columns; may be repeated"},
}

// columnFlag is one of columnFlags.
type columnFlag struct {
	key    string
	values []string
}

// addFileFlags gives a command the flags of people's own files.
func (s *settings) addFileFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	for _, def := range fileFlags {
		f := &settingFlag{flag: def.flag, key: def.key, kind: def.kind}
		s.flags = append(s.flags, f)
		fs.Var(f, def.flag, def.usage)
	}
	for _, def := range columnFlags {
		f := &columnFlag{key: def.key}
		s.columns = append(s.columns, f)
		fs.StringArrayVar(&f.values, def.flag, nil, def.usage)
	}
	complete(cmd, "task", report.Classification, report.Regression)
}

// overrides are the settings that the flag gives.
func (f *columnFlag) overrides() ([]configs.Override, error) {
	var out []configs.Override
	for _, text := range f.values {
		column, value, ok := strings.Cut(text, "=")
		if column = strings.TrimSpace(column); !ok || column == "" {
			return nil, usagef("--%s %q: want column=…", strings.TrimPrefix(f.key, "data."), text)
		}
		out = append(out, configs.Override{Key: f.key + "." + column, Value: strings.TrimSpace(value)})
	}
	return out, nil
}

// tableOptions are the options of people's own files.
func tableOptions(d configs.Data) table.Options {
	return table.Options{
		Label: d.Label, Task: table.Task(d.Task), Classes: d.Classes, Ignore: d.Ignore,
		Categories: d.Categories, Clip: d.Clip, Scale: d.Scale,
	}
}

// openPublic opens the public test file and infers from it and from settings how rows become samples.
func openPublic(d configs.Data) (*table.File, *table.Schema, error) {
	if err := d.Complete(); err != nil {
		return nil, nil, coded(codeUsage, err)
	}
	if sameFile(d.Train, d.Test) {
		return nil, nil, usagef("data.test: %s and %s are one file: the training file is private and the test file public; give two files", d.Train, d.Test)
	}
	options := tableOptions(d)
	if err := options.Validate(); err != nil {
		return nil, nil, explainedTable(err)
	}
	public, err := table.Open(d.Test)
	if err != nil {
		return nil, nil, err
	}
	s, err := table.Infer(public, options)
	if err != nil {
		return nil, nil, errors.Join(explainedTable(err), public.Close())
	}
	return public, s, nil
}

// countRows returns the number of a training file's rows.
func countRows(s *table.Schema, path string) (n int, err error) {
	private, err := table.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, private.Close()) }()
	return s.Count(private)
}

// readRows reads a file's rows.
func readRows(s *table.Schema, path string, use table.Use) (_ *table.Samples, err error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return s.Read(file, use)
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
		return coded(codeUsage, fmt.Errorf("data.%w", option))
	}
	return err
}

// sizeOfFiles counts rows. Of the training file nothing else is read. Public rows are read as they will be, and the network
// is built, so that a plan fails of what the run would fail of.
func sizeOfFiles(e configs.Experiment) (_ size, err error) {
	d := e.Data
	file, schema, err := openPublic(d)
	if err != nil {
		return size{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	public, err := schema.Read(file, table.Testing)
	if err != nil {
		return size{}, table.Cited(err)
	}
	if _, err := modelOf(describeModel(e, report.Model{Shape: schema.Shape, Outputs: schema.Outputs()})); err != nil {
		return size{}, err
	}
	s := size{schema: schema, test: public.N}
	s.large, s.outliers = largeColumns(schema, public)
	s.train, err = countRows(schema, d.Train)
	return s, err
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

// warnOfPlan says what is wrong with a plan that can be carried out: a guarantee that protects little, and columns that
// aren't scaled.
func warnOfPlan(console *ui.Console, p plan) {
	for _, warning := range p.privacy.Warnings {
		console.Log().Warn(warning)
	}
	warnOfLarge(console, p)
	warnOfMemory(console, p.memory)
}

// warnOfLarge tells what spoils a model more than noise does: a few large values take all of a clipped gradient.
func warnOfLarge(console *ui.Console, p plan) {
	names, shown := p.size.large, p.size.large
	if len(names) == 0 {
		return
	}
	more := ""
	if len(names) > 5 {
		shown, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	test := filepath.Base(p.experiment.Data.Test)
	columns := strings.Join(shown, ", ") + more
	if p.size.outliers {
		console.Log().Warnf("values far above 1 in %s of %s, scaled as they are: a few outliers drown the other rows; %s", columns, test, closerClip(p))
		return
	}
	console.Log().Warnf("values far above 1 in %s of %s: a model learns little from columns that aren't scaled; \"dptrain data describe\" suggests --scale and --clip from public rows", columns, test)
}

// closerClip is the remedy for outliers of scaled columns, with the first as the example: ten divisors on either side,
// in so many digits that a large shift leaves them apart.
func closerClip(p plan) string {
	name := p.size.large[0]
	example := ""
	for _, c := range p.size.schema.Columns {
		if c.Name == name {
			low, high := c.Scale.Shift-10*c.Scale.Divisor, c.Scale.Shift+10*c.Scale.Divisor
			example = fmt.Sprintf(", as in --clip %s=%.9g,%.9g", name, min(low, high), max(low, high))
		}
	}
	return "clip closer by public constants" + example
}

// loadFiles reads people's own files.
func loadFiles(d configs.Data) (_ loaded, err error) {
	file, schema, err := openPublic(d)
	if err != nil {
		return loaded{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	private, err := readRows(schema, d.Train, table.Training)
	if err != nil {
		return loaded{}, err
	}
	public, err := schema.Read(file, table.Testing)
	if err != nil {
		return loaded{}, table.Cited(err)
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
		return "", coded(codeInput, fmt.Errorf("data.test: all %s rows of %s are rows of %s too, and test rows are public: the guarantee protects none of them; give test rows that aren't trained on",
			grouped(o.Public), test, train))
	case o.Many():
		return fmt.Sprintf("%s of the %s rows of %s are rows of %s too: test rows are public, and the guarantee protects none of them; this count is private",
			grouped(o.Shared), grouped(o.Public), test, train), nil
	}
	return "", nil
}

func labelled(s *table.Schema, rows *table.Samples) (train.Labelled, error) {
	if s.Label.Task == table.Regression {
		return train.NewRegression(rows.Values, rows.Numbers)
	}
	return train.NewClassification(rows.Values, rows.Classes, s.Outputs())
}

// dataRows say in a plan what the data are.
func dataRows(e configs.Experiment, s size) [][2]string {
	if s.schema == nil {
		rows := [][2]string{{"data", fmt.Sprintf("%s, %s training samples; %s test samples, which are public", e.Dataset, grouped(s.train), grouped(s.test))}}
		if weights, ok := featured[e.Dataset]; ok {
			rows = append(rows, [2]string{"features", fmt.Sprintf("%d for each image, of %s with its public weights", features.Size, weights)})
		}
		return rows
	}
	return [][2]string{
		{"data", fmt.Sprintf("%s, %s rows; %s, %s rows, which are public", filepath.Base(e.Data.Train), grouped(s.train), filepath.Base(e.Data.Test), grouped(s.test))},
		{"columns", schemaText(s.schema)},
	}
}

func schemaText(s *table.Schema) string {
	const most = 5
	columns := fmt.Sprintf("%d", len(s.Columns))
	text := fmt.Sprintf("%s, which make samples of shape %v; ", columns, s.Shape)
	classes := slices.Clone(s.Label.Classes)
	if len(classes) > most {
		classes = append(classes[:most], "…")
	}
	if s.Label.Task == table.Regression {
		return text + fmt.Sprintf("regression on %s", s.Label.Name)
	}
	return text + fmt.Sprintf("%s in %d classes: %s", s.Label.Name, len(s.Label.Classes), strings.Join(classes, ", "))
}
