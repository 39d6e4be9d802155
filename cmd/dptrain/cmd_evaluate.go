package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/ui"
	"github.com/dptrain/dptrain/train"
)

func newEvaluateCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "evaluate RUN [FILE]",
		Short: "Evaluate a released model on labelled rows",
		Long: `Evaluate a released model on labelled rows. For classes the result is the
accuracy, overall and for each class. For numbers it is the root of the mean
squared error and the mean absolute error, both in the unit of the file, and R².
RUN is a run's folder, or its folder "released", which may have been copied
elsewhere.

A model that was trained on files of your own takes a FILE with the columns of
the training file and the label. Without a file, the model of a data set that is
known by name is evaluated on the public test set.

For public rows, and for rows that the model wasn't trained on, the result says
nothing about the training rows beyond what the released model does. For the
private training rows it is a private statistic, which the guarantee doesn't
cover: don't publish it. A warning says so for a file with the training file's
name.

` + exitCodes,
		Example: `  dptrain evaluate runs/files-20261122-100352 held-out.csv
  dptrain evaluate runs/mnist-20261122-100352 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("%s wants a run and perhaps a file, got %d arguments; see %[1]s --help", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			return runEvaluate(cmd.Context(), g, args[0], file)
		},
	}
}

// evaluated is the result of an evaluation: the fields of a classification or those of a regression.
type evaluated struct {
	Rows     int              `json:"rows"`
	Accuracy *float64         `json:"accuracy,omitempty"`
	Classes  []evaluatedClass `json:"classes,omitempty"`

	RootMeanSquare *float64 `json:"root_mean_squared_error,omitempty"`
	MeanAbsolute   *float64 `json:"mean_absolute_error,omitempty"`
	R2             *float64 `json:"r2,omitempty"`
}

type evaluatedClass struct {
	Class     string `json:"class"`
	Rows      int    `json:"rows"`
	Right     int    `json:"right"`
	Predicted int    `json:"predicted"`
}

func runEvaluate(ctx context.Context, g *global, run, file string) (err error) {
	r, err := await(ctx, "reading the model", func() (*experiment.Released, error) { return experiment.Open(run, onCPU()) })
	if err != nil {
		return err
	}
	rows, err := evaluationRows(ctx, g.console(), r, file)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	e, err := await(ctx, "evaluating", func() (evaluated, error) {
		e, err := evaluate(ctx, r, rows)
		return e, errors.Join(err, r.Close())
	})
	if err != nil {
		return err
	}
	if experiment.TrainedOn(run, file) {
		g.console().Log().Warnf("%s has the name of the run's training file: on the training rows all of this is private statistics, which the guarantee doesn't cover; don't publish them", file)
	} else if file != "" {
		g.console().Log().Infof("if rows of %s were trained on, all of this is private statistics, which the guarantee doesn't cover", file)
	}
	return g.print(e, func(w io.Writer) { printEvaluated(w, e) })
}

// evaluationRows reads a file, or else the public test set of the model's data set.
func evaluationRows(ctx context.Context, console *ui.Console, r *experiment.Released, file string) (experiment.Rows, error) {
	if file != "" {
		return await(ctx, "reading "+file, func() (experiment.Rows, error) { return r.Read(file, table.Testing) })
	}
	if r.Dataset == configs.Files {
		return experiment.Rows{}, usagef("the model was trained on files of your own; give one with labels to evaluate it on")
	}
	console.Log().Debugf("open data set %s", r.Dataset)
	return follow(ctx, console, "loading "+r.Dataset, func(f *follower) (experiment.Rows, error) { return r.TestSet(ctx, f) })
}

func evaluate(ctx context.Context, r *experiment.Released, rows experiment.Rows) (evaluated, error) {
	outputs, err := r.Predict(ctx, rows.Data)
	if err != nil {
		return evaluated{}, err
	}
	e := evaluated{Rows: rows.Data.Samples()}
	switch labels := rows.Labels.(type) {
	case *train.Classification:
		counts, err := labels.Evaluate(outputs)
		if err != nil {
			return e, err
		}
		right := 0
		for i, c := range counts {
			e.Classes = append(e.Classes, evaluatedClass{r.Class(i), c.Samples, c.Right, c.Predicted})
			right += c.Right
		}
		accuracy := float64(right) / float64(e.Rows)
		e.Accuracy = &accuracy
	case *train.Regression:
		off, err := labels.Evaluate(outputs)
		if err != nil {
			return e, err
		}
		off.RootMeanSquare, off.MeanAbsolute = rows.Label.Difference(off.RootMeanSquare), rows.Label.Difference(off.MeanAbsolute)
		e.RootMeanSquare, e.MeanAbsolute = &off.RootMeanSquare, &off.MeanAbsolute
		if !math.IsNaN(off.R2) {
			e.R2 = &off.R2
		}
	}
	return e, nil
}

func printEvaluated(w io.Writer, e evaluated) {
	pairs := [][2]string{{"rows", report.Grouped(e.Rows)}}
	if e.Accuracy != nil {
		pairs = append(pairs, [2]string{"accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy)})
	} else {
		pairs = append(pairs,
			[2]string{"root mean squared error", fmt.Sprintf("%.5g", *e.RootMeanSquare)},
			[2]string{"mean absolute error", fmt.Sprintf("%.5g", *e.MeanAbsolute)})
		r2 := "none: every label is the same"
		if e.R2 != nil {
			r2 = fmt.Sprintf("%.4f", *e.R2)
		}
		pairs = append(pairs, [2]string{"R²", r2})
	}
	rows(w, pairs...)
	if len(e.Classes) == 0 {
		return
	}
	fmt.Fprintln(w)
	tw := aligned(w)
	fmt.Fprintln(tw, "CLASS\tROWS\tRIGHT\tPREDICTED")
	for _, c := range e.Classes {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", c.Class, report.Grouped(c.Rows), report.Grouped(c.Right), report.Grouped(c.Predicted))
	}
	tw.Flush()
}
