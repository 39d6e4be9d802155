package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/suggest"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
)

func newDataDescribeCommand(g *global) *cobra.Command {
	var opts suggest.Options
	var written []string
	cmd := &cobra.Command{
		Use:   "describe PUBLIC-FILE",
		Short: "Suggest settings for files of your own, from a public file alone",
		Long: `Suggest settings for files of your own, from a public file: the categories of its
columns of text, constants that scale and clip its columns of numbers, and what
stands for missing numbers. A column of texts, such as reviews, is learned from if
nothing else is left: give the other columns to --ignore. Columns that teach a model
nothing are left out: row numbers, ids, dates, texts that all differ, constants.
Comments give the reasons. Standard error says what is left out, and what to decide.

Give it public files only, such as the public test set, never the private
training rows. Their means, ranges and categories would be released with the
model, and no guarantee covers that. A column that isn't public can't be
described like this: take constants from what is generally known.

Amounts such as 33,4 or $1,234.50 are read as the file writes them. Where it leaves
open what a sign means, --written says so, by an example such as 1,5.

The result is a settings file for --config, to read and change.

` + term.ExitCodes,
		Example: `  dptrain data describe public.csv --label outcome >mine.yaml
  dptrain data describe public.csv --label visits --task regression --ignore name,phone >mine.yaml
  dptrain tune --config mine.yaml --train private.csv`,
		Args: term.Takes(1, 1, "one public file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDataDescribe(cmd.Context(), g, opts, written, args[0])
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&opts.Label, "label", "", "`column` that holds the labels")
	fs.StringVar(&opts.Task, "task", "", "classification or regression; without it the labels decide")
	fs.StringVar(&opts.Unit, "unit", "", "`column` that says whose a row is, such as patient; nothing is learned from it")
	fs.StringSliceVar(&opts.Ignore, "ignore", nil, "columns to leave out besides those that teach a model nothing: a `list`; a name with a comma in double quotes")
	fs.StringArrayVar(&written, "written", nil, "how a column is written, as `column=1,5` if the cells leave it open; * for all others; date reads dates as days; may be repeated")
	flags.Complete(cmd, "task", release.Classification, release.Regression)
	return cmd
}

func runDataDescribe(ctx context.Context, g *global, opts suggest.Options, written []string, file string) error {
	if opts.Task != "" && opts.Task != release.Classification && opts.Task != release.Regression {
		return term.Unknown("task", opts.Task, []string{release.Classification, release.Regression})
	}
	as := map[string]string{}
	for _, text := range written {
		column, example, ok := strings.Cut(text, "=")
		if !ok {
			return term.Usagef("--written %q: want column=…", text)
		}
		as[strings.TrimSpace(column)] = strings.TrimSpace(example)
	}
	g.Console().Log().Warnf("what follows was read off %s: use it only if the file is public", file)
	type suggestion struct {
		described table.Description
		settings  string
		of        *suggest.File
	}
	s, err := term.Await(ctx, "reading "+file, func() (s suggestion, err error) {
		public, err := table.Open(file)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, public.Close()) }()
		if s.described, err = public.Describe(table.Options{Ignore: opts.Ignore, Written: as}); err != nil {
			if option, ok := errors.AsType[*table.OptionError](err); ok {
				return s, term.Usagef("--%w", option)
			}
			return s, err
		}
		for _, note := range public.Notes() {
			g.Console().Log().Info(note)
		}
		if s.of, err = suggest.Describe(file, s.described, opts); err == nil {
			s.settings, err = s.of.YAML()
		}
		return s, err
	})
	if err != nil {
		return err
	}
	if err := g.Print(s.described, func(w io.Writer) { fmt.Fprint(w, s.settings) }); err != nil {
		return err
	}
	for _, note := range s.of.Notes {
		g.Console().Log().Warn(note)
	}
	if s.of.LeftOut != "" {
		g.Console().Log().Warn("left out: " + s.of.LeftOut)
	}
	return nil
}
