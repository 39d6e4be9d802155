package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/suggest"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
)

type schemaOptions struct{ columns, label string }

func newDataSchemaCommand(g *global) *cobra.Command {
	var opts schemaOptions
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Write settings for files of your own from what you know about their columns",
		Long: `Write settings for files of your own from what you know about their columns. It
reads no file: the columns, their ranges, categories and classes are what you
write, from public knowledge, such as a codebook. Without public rows that are
like the private ones, this takes the place of "dptrain data describe".

--columns lists the columns to learn from and the label, separated by commas:

  age:number:0..120      numbers: those beyond the range are clipped to it, and
                         the range is scaled to about -1.7 to 1.7
  mass:number:0..80:missing=27
                         where 27 stands for missing values, and a further value
                         says which were; without =27 the middle of the range
  x:number[28x28]:0..255 an array of an NPZ file, whose rows have that shape
  sex:F|M                categories
  job:a|b|*              categories, where * stands for all others
  size:S|M|L|            categories and, by the empty one, a missing value
  review:text            texts, which are learned from alone, without any other
                         column than the label and ignored ones
  id:ignore              a column of the files to leave out

The label has classes, as in income:0|1, or is a number to predict, as in
price:number:0..5000. A name or a category that has a comma, a colon, a bar or a
quote in it goes into double quotes, and a quote inside is written twice, as in
CSV: '"height: cm":number:40..220'.

The result is a settings file for --config, to read and change.

` + term.ExitCodes,
		Example: `  dptrain data schema --columns 'age:number:0..120,sex:F|M,job:a|b|*,income:0|1' --label income >mine.yaml
  dptrain tune --config mine.yaml --train private.csv --holdout 0.1`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runDataSchema(g, opts) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&opts.columns, "columns", "", "the columns, as `name:kind,...`; see above")
	fs.StringVar(&opts.label, "label", "", "`column` that holds the labels")
	return cmd
}

func runDataSchema(g *global, opts schemaOptions) error {
	switch {
	case opts.columns == "":
		return term.Usagef("--columns: none; list them, as in --columns 'age:number:0..120,sex:F|M,income:0|1'")
	case opts.label == "":
		return term.Usagef("--label: none; name the column that holds the labels")
	}
	o, err := table.ParseColumns(opts.columns, opts.label)
	if err != nil {
		if option, ok := errors.AsType[*table.OptionError](err); ok {
			return term.Usagef("--%w", option)
		}
		return err
	}
	text, err := suggest.Columns(o).YAML()
	if err != nil {
		return err
	}
	return g.printSettings(text)
}
