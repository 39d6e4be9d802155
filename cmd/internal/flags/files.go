package flags

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
)

// fileFlags are the settings of a person's own files that are given once.
var fileFlags = []flagOf{
	{"train", "data.train", "file", "private training rows of your own: " + strings.Join(table.Formats(), ", ")},
	{"test", "data.test", "file", "public test rows, which select and say what columns and classes there are; \"train\" takes none if the settings list the columns"},
	{"label", "data.label", "name", "column, or NPZ array, that holds the labels"},
	{"text", "data.text", "name", "column of texts, such as reviews, which is learned from alone, by the model embedding"},
	{"task", "data.task", "name", "classification or regression; without it the public test file decides"},
	{"classes", "data.classes", "list", "all classes, such as no,yes, if the public test file lacks some"},
	{"ignore", "data.ignore", "list", "columns to leave out, in place of the list in the settings file; a name with a comma in double quotes"},
	{"unit", "data.unit", "name", "column that says whose a row is, such as patient: the guarantee is for all rows of one together. Nothing is learned from it"},
	{"rows-per-unit", "data.rows_per_unit", "number", "most training rows that are kept of each unit; public, with --unit"},
}

// columnFlags are the settings that are given for each column, by values such as age=0,120.
var columnFlags = []struct{ flag, key, usage string }{
	{"categories", "data.categories", "categories of a column, as `column=a,b,c`; * for all others, nothing for missing ones; may be repeated"},
	{"missing", "data.missing", "number that stands for missing ones of a column, as `column=40`; a value that says which were missing goes with it, unless ,no-indicator follows; further texts that stand for missing ones may follow too, as column=40,unknown,-999; may be repeated"},
	{"written", "data.written", "how numbers of a column are written if the public test file doesn't show it, as `column=1,5`: an example with the decimal sign and what stands around it ($1.5, 1,5 mmHg), or date for days since 1970-01-01; * for all others; may be repeated"},
	{"clip", "data.clip", "lowest and highest value of a column, as `column=0,120`; public constants; * for all others, x[3] for a value of array x; may be repeated"},
	{"scale", "data.scale", "shift and divisor of a column, as `column=40,12` for (x-40)/12; public constants; * for all others, x[3] for a value of array x; may be repeated"},
}

// columnFlag is the flag of one of columnFlags.
type columnFlag struct {
	key    string
	values []string
}

// AddFiles gives a command the flags of a person's own files.
func (s *Settings) AddFiles(cmd *cobra.Command) {
	fs := cmd.Flags()
	s.addDefined(cmd, fileFlags, func(string) bool { return true })
	for _, def := range columnFlags {
		f := &columnFlag{key: def.key}
		s.columns = append(s.columns, f)
		fs.StringArrayVar(&f.values, def.flag, nil, def.usage)
	}
	Complete(cmd, "task", release.Classification, release.Regression)
}

// name returns the name of the flag.
func (f *columnFlag) name() string { return strings.TrimPrefix(f.key, "data.") }

// overrides returns the settings that the flag gives.
func (f *columnFlag) overrides() ([]settings.Override, error) {
	var out []settings.Override
	for _, text := range f.values {
		column, value, ok := strings.Cut(text, "=")
		if column = strings.TrimSpace(column); !ok || column == "" {
			return nil, term.Usagef("--%s %q: want column=…", f.name(), text)
		}
		if f.key == "data.missing" {
			var err error
			if value, err = missingValue(text, value); err != nil {
				return nil, err
			}
		}
		out = append(out, settings.Override{Key: f.key + "." + column, Value: strings.TrimSpace(value), From: "--" + f.name()})
	}
	return out, nil
}

// missingValue returns the setting that a value of --missing stands for, such as 40,no-indicator.
func missingValue(flag, value string) (string, error) {
	parts := strings.Split(value, ",")
	fill, err := strconv.ParseFloat(strings.TrimSpace(parts[0]), 64)
	if err != nil || fill-fill != 0 {
		return "", term.Usagef("--missing %q: want the number that stands for missing ones, as in column=40", flag)
	}
	m := struct { // JSON, which is YAML too, quotes words
		Fill      float64  `json:"fill"`
		Indicator bool     `json:"indicator"`
		Words     []string `json:"words,omitempty"`
	}{Fill: fill, Indicator: true}
	for _, word := range parts[1:] {
		switch word = strings.TrimSpace(word); word {
		case "indicator", "no-indicator":
			m.Indicator = word == "indicator"
		case "":
			return "", term.Usagef("--missing %q: an empty word, which is missing in any case; leave it out", flag)
		default:
			m.Words = append(m.Words, word)
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("--missing %q: %w", flag, err)
	}
	return string(text), nil
}
