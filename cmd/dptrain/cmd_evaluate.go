package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/show"
	"github.com/dptrain/dptrain/train"
)

func newEvaluateCommand(g *global) *cobra.Command {
	var threshold string
	cmd := &cobra.Command{
		Use:   "evaluate RUN [FILE...]",
		Short: "Evaluate a released model on labelled rows",
		Long: `Evaluate a released model on labelled rows. RUN is a run's folder, or its
folder "released", which may have been copied elsewhere.

For classes the result is
  accuracy           the share of rows whose predicted class is right
  log loss           the mean of -ln p, where p is the probability that the
                     model gives to a row's class; beside it that of a model which
                     gives every row the classes' shares of these rows
  calibration error  the expected calibration error: rows are put into 15 bins
                     of equal width by the probability of the predicted class,
                     (0, 1/15], (1/15, 2/15] and so on; in each the share of
                     right rows is compared with the mean probability, and the
                     differences are averaged, weighted by the bins' rows
  AUC                the area under the ROC curve: the chance that a row of a
                     class gets a higher probability of it than a row of
                     another, ties counted half. Of the class of two that has
                     fewer of the rows, or of more than two the mean over
                     classes, each against the rest
  F1                 2 TP/(2 TP + FP + FN): of the class of two that has fewer
                     of the rows, or of more than two the mean over the classes
                     that occur or are predicted
  confusion matrix   for each class, its rows by the class that is predicted
The predicted class is the most probable one or, with --threshold CLASS=P, CLASS
where its probability is at least P. That suits a rare class, whose probability
seldom reaches one half.

A model's probabilities are calibrated by its temperature, which is in
model.json, fitted on the public test set; they look a little better on those
rows than on others.

For numbers the result is the root of the mean squared error and the mean
absolute error, both in the unit of the file, and R², which is 0 for a model
that predicts the mean of the rows' labels and 1 for one without errors.

With --json, what isn't defined is left out, such as the AUC of rows of one
class, and so is a confusion matrix of more than 1,000 classes.

A model that was trained on files of your own takes a FILE with the columns of
the training file and the label. Without a file, the model of a data set that is
known by name is evaluated on the public test set. For other images give a file
of images and one of their labels, in MNIST's format; for other texts a CSV file
with the columns "text" and "label".

For public rows, and for rows that the model wasn't trained on, the result says
nothing about the training rows beyond what the released model does. For the
private training rows it is a private statistic, which the guarantee doesn't
cover: don't publish it. A warning says so for a file with the training file's
name.

` + term.ExitCodes,
		Example: `  dptrain evaluate runs/files-20261122-100352 held-out.csv
  dptrain evaluate runs/files-20261122-100352 held-out.csv --threshold yes=0.02
  dptrain evaluate runs/mnist-20261122-100352 --json
  dptrain evaluate runs/mnist-20261122-100352 images-idx3-ubyte.gz labels-idx1-ubyte.gz`,
		Args: term.Takes(1, 3, "a run and perhaps a file or two"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvaluate(cmd.Context(), g, threshold, args[0], args[1:])
		},
	}
	addThreshold(cmd, &threshold)
	return cmd
}

// addThreshold gives a command the flag of a threshold.
func addThreshold(cmd *cobra.Command, text *string) {
	cmd.Flags().StringVar(text, "threshold", "", "predict a class of two where its probability is at least this, as `CLASS=P`, such as yes=0.02")
}

// thresholdOf reads a threshold for a model; nil for none.
func thresholdOf(r *experiment.Released, text string) (*scores.Threshold, error) {
	if text == "" {
		return nil, nil
	}
	if r.Task == release.Regression || r.Outputs != 2 {
		return nil, term.Usagef("--threshold: it is for models of two classes, and this is a %s with %d outputs; leave it out", r.Task, r.Outputs)
	}
	at := strings.LastIndex(text, "=")
	p, err := strconv.ParseFloat(text[at+1:], 64)
	for class := range r.Outputs {
		if at >= 0 && err == nil && p >= 0 && p <= 1 && text[:at] == r.Class(class) {
			return &scores.Threshold{Class: class, P: p}, nil
		}
	}
	return nil, term.Usagef("--threshold %s: want a class and its probability from 0 to 1, such as %s=0.02; the classes are %s and %s", text, show.Printable(r.Class(1)), show.Printable(r.Class(0)), show.Printable(r.Class(1)))
}

// evaluated is the result of an evaluation: the fields of a classification, or of a regression.
type evaluated struct {
	release.Evaluation
	RootMeanSquare *float64 `json:"root_mean_squared_error,omitempty"`
	MeanAbsolute   *float64 `json:"mean_absolute_error,omitempty"`
	R2             *float64 `json:"r2,omitempty"`
}

func runEvaluate(ctx context.Context, g *global, threshold, run string, files []string) (err error) {
	r, err := experiment.Open(run, engines.CPU())
	if err != nil {
		return err
	}
	at, err := thresholdOf(r, threshold)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	rows, err := evaluationRows(ctx, g.Console(), r, files)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	e, err := term.Await(ctx, "evaluating", func() (evaluated, error) {
		e, err := evaluate(ctx, r, rows, at)
		return e, errors.Join(err, r.Close())
	})
	if err != nil {
		return err
	}
	warnOfModel(g, r)
	file := ""
	if len(files) > 0 {
		file = files[0]
	}
	if experiment.TrainedOn(run, file) {
		g.Console().Log().Warnf("%s has the name of the run's training file: on the training rows all of this is private statistics, which the guarantee doesn't cover; don't publish them", file)
	} else if file != "" {
		g.Console().Log().Infof("if rows of %s were trained on, all of this is private statistics, which the guarantee doesn't cover", file)
	}
	return g.Print(e, func(w io.Writer) { printEvaluated(w, e) })
}

// warnOfModel shows the warning that a model was released with.
func warnOfModel(g *global, r *experiment.Released) {
	if r.Warning != "" {
		g.Console().Log().Warnf("when it was released, this was said of the model: %s", r.Warning)
	}
}

// evaluationRows reads files, or else the public test set of the model's data set.
func evaluationRows(ctx context.Context, console *ui.Console, r *experiment.Released, files []string) (experiment.Rows, error) {
	if len(files) > 0 {
		return term.Follow(ctx, console, "reading "+files[0], func(f *term.Follower) (experiment.Rows, error) {
			rows, _, err := r.ReadFiles(ctx, files, table.Testing, f)
			return rows, err
		})
	}
	if r.Dataset == settings.Files {
		return experiment.Rows{}, term.Usagef("the model was trained on files of your own; give one with labels to evaluate it on")
	}
	console.Log().Debugf("open data set %s", r.Dataset)
	return term.Follow(ctx, console, "loading "+r.Dataset, func(f *term.Follower) (experiment.Rows, error) { return r.TestSet(ctx, f) })
}

func evaluate(ctx context.Context, r *experiment.Released, rows experiment.Rows, threshold *scores.Threshold) (evaluated, error) {
	outputs, err := r.Predict(ctx, rows.Data)
	if err != nil {
		return evaluated{}, err
	}
	e := evaluated{Evaluation: release.Evaluation{Rows: rows.Data.Samples()}}
	switch labels := rows.Labels.(type) {
	case *train.Classification:
		measured, err := scores.Classify(outputs, labels.Labels(), labels.Classes(), r.Temperature, threshold)
		e.Evaluation = release.EvaluationOf(measured, r.Class)
		return e, err
	case *train.Regression:
		off, err := labels.Evaluate(outputs)
		if err != nil {
			return e, err
		}
		off.RootMeanSquare, off.MeanAbsolute = rows.Label.Difference(off.RootMeanSquare), rows.Label.Difference(off.MeanAbsolute)
		e.R2 = release.Defined(off.R2)
		if e.RootMeanSquare, e.MeanAbsolute = release.Defined(off.RootMeanSquare), release.Defined(off.MeanAbsolute); e.RootMeanSquare == nil {
			return e, fmt.Errorf("evaluate: the model's predictions for these rows aren't finite; train another one, with smaller learning rates")
		}
	}
	return e, nil
}

// printEvaluated prints the result of an evaluation.
func printEvaluated(w io.Writer, e evaluated) {
	if e.Accuracy == nil {
		term.Rows(w, release.Facts{
			{"rows", release.Grouped(e.Rows)},
			{"root mean squared error", fmt.Sprintf("%.5g", *e.RootMeanSquare)},
			{"mean absolute error", fmt.Sprintf("%.5g", *e.MeanAbsolute)},
			{"R²", release.FigureOr(e.R2, "none: every label is the same")},
		})
		return
	}
	term.Rows(w, e.Facts())
	fmt.Fprintln(w)
	lines := [][]string{{"CLASS", "ROWS", "RIGHT", "PREDICTED"}}
	for _, c := range e.Classes {
		lines = append(lines, []string{c.Class, release.Grouped(c.Rows), release.Grouped(c.Right), release.Grouped(c.Predicted)})
	}
	term.Columns(w, lines...)
	if lines = e.Matrix(); lines != nil {
		fmt.Fprintln(w)
		term.Columns(w, lines...)
	}
}
