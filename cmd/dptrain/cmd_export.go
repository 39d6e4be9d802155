package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release/onnx"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
)

type exportOptions struct{ encoded, strings bool }

func newExportCommand(g *global) *cobra.Command {
	var opts exportOptions
	cmd := &cobra.Command{
		Use:   "export RUN FILE.onnx",
		Short: "Write a released model as an ONNX graph",
		Long: `Write a released model as a graph of ONNX, which many runtimes compute. RUN is a
run's folder, or its folder "released", which may have been copied elsewhere.
FILE.onnx must not exist.

The graph takes what a person has, and does everything that "dptrain predict" does:

  a table   an input for each column, by its name: numbers in double precision, in
            the unit of the file, with NaN for a missing one; of a category its
            position in the column's list, an int64
  images    an input "image" of bytes, [N, channels, rows, columns]
  features  an input "features", [N, features]: a data set whose samples are
            features of images leaves the network that computes them to you
  texts     an input "tokens" of int64, [N, tokens], padded with 0

Its outputs are "class" (the position of the class), "probabilities" and "logits",
or for a regression "value", in the unit of the file. What a column's categories
and the classes are stands in the result, and in the graph itself. Cells without
a category or number are an error of "predict"; here a position that isn't in the
list makes the runtime fail, and a missing number that the model has no value for
makes the row's outputs NaN.

With --strings an input of a category takes its text, as "predict" does but for blanks
around it, and the class is an output "label", in words. Categories then need the
operator LabelEncoder of the domain ai.onnx.ml, which ONNX Runtime has.

With --encoded there is one input "x" of samples as the network takes them.

The file is as public as the released model. It needs operators of version 13,
which every runtime since 2021 has, and none of another domain without --strings.

` + term.ExitCodes,
		Example: `  dptrain export runs/files-20261122-100352 model.onnx
  dptrain export released model.onnx --json`,
		Args: term.Takes(2, 2, "a run and a file"),
		RunE: func(_ *cobra.Command, args []string) error { return runExport(g, opts, args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&opts.strings, "strings", false, "categories and classes as texts")
	cmd.Flags().BoolVar(&opts.encoded, "encoded", false, "one input of samples as the network takes them, in place of columns or of bytes of images")
	return cmd
}

// exported is the result of an export.
type exported struct {
	File string `json:"file"`
	onnx.Signature
}

func runExport(g *global, opts exportOptions, run, file string) error {
	model, parameters, err := experiment.Portable(run)
	if err != nil {
		return err
	}
	o := onnx.Options{Encoded: opts.encoded}
	if opts.strings {
		o.Texts = table.Texts
	}
	contents, signature, err := onnx.Export(model, parameters, o)
	if err != nil {
		return term.Input(err)
	}
	if err := term.Create(file, contents, 0o644); err != nil {
		return err
	}
	result := exported{file, signature}
	return g.Print(result, func(w io.Writer) { printExported(w, result) })
}

func printExported(w io.Writer, e exported) {
	lines := [][]string{{"", "NAME", "TYPE", "SHAPE", "MEANING"}}
	for _, part := range []struct {
		name   string
		values []onnx.Value
	}{{"input", e.Inputs}, {"output", e.Outputs}} {
		for _, v := range part.values {
			shape := strings.Join(append([]string{"N"}, strings.Fields(strings.Trim(fmt.Sprint(v.Shape), "[]"))...), ", ")
			lines = append(lines, []string{part.name, v.Name, v.Type, "[" + shape + "]", v.Meaning})
		}
	}
	term.Columns(w, lines...)
}
