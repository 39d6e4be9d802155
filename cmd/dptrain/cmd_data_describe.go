package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/report"
)

type describeOptions struct{ label string }

func newDataDescribeCommand(g *global) *cobra.Command {
	var opts describeOptions
	cmd := &cobra.Command{
		Use:   "describe PUBLIC-FILE",
		Short: "Suggest settings for files of your own, from a public file alone",
		Long: `Suggest settings for files of your own, from a public file: the categories of its
columns of text, and constants that scale and clip its columns of numbers.

Give it public files only, such as the public test set, never the private
training rows. Their means, ranges and categories would be released with the
model, and no guarantee covers that. A column that isn't public can't be
described like this: take constants from what is generally known.

The result is a settings file for --config, to read and change.

` + exitCodes,
		Example: `  dptrain data describe public.csv --label outcome >mine.yaml
  dptrain tune --config mine.yaml --train private.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s wants one public file, got %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDataDescribe(cmd.Context(), g, opts, args[0]) },
	}
	cmd.Flags().StringVar(&opts.label, "label", "", "`column` that holds the labels")
	return cmd
}

func runDataDescribe(ctx context.Context, g *global, opts describeOptions, file string) error {
	g.console().Log().Warnf("what follows was read off %s: use it only if the file is public", file)
	type suggestion struct {
		described table.Description
		settings  string
	}
	s, err := await(ctx, "reading "+file, func() (s suggestion, err error) {
		public, err := table.Open(file)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, public.Close()) }()
		if s.described, err = table.Describe(public); err != nil {
			return s, err
		}
		s.settings, err = suggest(file, s.described, opts.label)
		return s, err
	})
	if err != nil {
		return err
	}
	return g.print(s.described, func(w io.Writer) { fmt.Fprint(w, s.settings) })
}

// suggest returns a settings file for the columns of a public file.
func suggest(file string, d table.Description, label string) (string, error) {
	if label != "" && !slices.ContainsFunc(d.Columns, func(s table.Summary) bool { return s.Name == label }) {
		var names []string
		for _, s := range d.Columns {
			names = append(names, s.Name)
		}
		return "", unknown("column", label, names)
	}
	data, notes := suggested(file, d, label)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Suggested by dptrain data describe for the %s rows of %s.\n", report.Grouped(d.Rows), file)
	fmt.Fprint(&b, "# USE THIS ONLY IF THAT FILE IS PUBLIC. The constants are released with the model, and no guarantee covers them.\n")
	for _, note := range notes {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(note, "\n", " "))
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(map[string]any{"data": data}); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	return b.String(), nil
}

// suggested returns settings for the columns of a public file, and notes for a person.
func suggested(file string, d table.Description, label string) (configs.Data, []string) {
	data := configs.Data{
		Test: file, Label: label,
		Categories: map[string][]string{}, Clip: map[string][2]float64{}, Scale: map[string][2]float64{},
	}
	var notes []string
	notef := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, s := range d.Columns {
		if s.Missing > 0 {
			notef("%s: %s of its values are missing; numbers have to be filled in, categories may have \"\" among them", s.Name, report.Grouped(s.Missing))
		}
		if mixed(s, d.Rows) {
			notef("%s: %s of its values aren't numbers, such as %q. If it holds amounts, fill these in or leave their rows out, in all files; as it is, %s",
				s.Name, report.Grouped(s.Texts), s.Text, asItIs(s, label))
		}
		scale, varies := s.Suggested()
		switch {
		case s.Name == label:
			switch {
			case !varies || !s.Numbers:
			case s.Task() == table.Regression:
				data.Scale[s.Name], data.Clip[s.Name] = scale, [2]float64{s.Low, s.High}
			default:
				notef("%s: %d different whole numbers, which are taken for classes. If they are amounts: --task regression --scale %s=%v,%v --clip %[1]s=%[6]v,%[7]v",
					s.Name, len(s.Categories), s.Name, scale[0], scale[1], s.Low, s.High)
			}
		case s.Problem != "":
			notef("%s: %s", s.Name, s.Problem)
			data.Ignore = append(data.Ignore, s.Name)
		case varies:
			data.Scale[s.Name], data.Clip[s.Name] = scale, [2]float64{s.Low, s.High}
		case s.Numbers:
			notef("%s: always %v, which tells nothing", s.Name, s.Low)
			data.Ignore = append(data.Ignore, s.Name)
		case len(s.Categories) > 0:
			data.Categories[s.Name] = s.Categories
		default:
			if !mixed(s, d.Rows) {
				notef("%s: more than %d different texts; a name or a number of its own tells a model nothing", s.Name, table.MaxClasses)
			}
			data.Ignore = append(data.Ignore, s.Name)
		}
	}
	if len(data.Categories) > 0 {
		notef(`categories: a value that the list of its column lacks is an error. "*" at the end of a list stands for all such values`)
	}
	if label == "" {
		notef("label: missing; name the column that holds the labels")
	}
	return data, notes
}

// mixed reports whether most values of a column are numbers and some aren't. Texts with some numbers among them are
// names.
func mixed(s table.Summary, rows int) bool {
	return s.Problem == "" && s.Texts > 0 && 2*s.Texts < rows-s.Missing
}

// asItIs returns what becomes of a column of numbers with texts among them, as part of a note.
func asItIs(s table.Summary, label string) string {
	switch {
	case s.Name == label:
		return "each number is a class of its own"
	case len(s.Categories) == 0:
		return "the column is left out"
	}
	return "each number is a category of its own"
}
