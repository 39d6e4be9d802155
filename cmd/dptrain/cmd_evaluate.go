package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

func newEvaluateCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "evaluate RUN [FILE...]",
		Short: "Evaluate a released model on labelled rows",
		Long: `Evaluate a released model on labelled rows. RUN is a run's folder, or its
folder "released", which may have been copied elsewhere.

For classes the result is
  accuracy           the share of rows whose predicted class is right
  log loss           the mean of -ln p, where p is the probability that the
                     model gives to a row's class; -ln(1/k) is that of a model
                     that gives each of k classes the same
  calibration error  the expected calibration error: rows are put into 15 bins
                     of equal width by the probability of the predicted class,
                     (0, 1/15], (1/15, 2/15] and so on; in each the share of
                     right rows is compared with the mean probability, and the
                     differences are averaged, weighted by the bins' rows
  AUC                the area under the ROC curve: the chance that a row of a
                     class gets a higher probability of it than a row of
                     another, ties counted half. Of the second class if there
                     are two, else the mean over classes, each against the rest
  F1                 2 TP/(2 TP + FP + FN): of the second class if there are
                     two, else the mean over the classes that occur or are
                     predicted
  confusion matrix   for each class, its rows by the class that is predicted
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
  dptrain evaluate runs/mnist-20261122-100352 --json
  dptrain evaluate runs/mnist-20261122-100352 images-idx3-ubyte.gz labels-idx1-ubyte.gz`,
		Args: term.Takes(1, 3, "a run and perhaps a file or two"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvaluate(cmd.Context(), g, args[0], args[1:])
		},
	}
}

// evaluated is the result of an evaluation: the fields of a classification, or of a regression.
type evaluated struct {
	Rows     int              `json:"rows"`
	Accuracy *float64         `json:"accuracy,omitempty"`
	Classes  []evaluatedClass `json:"classes,omitempty"`

	// Left out where they aren't defined: JSON has no NaN.
	LogLoss          *float64 `json:"log_loss,omitempty"`
	CalibrationError *float64 `json:"calibration_error,omitempty"`
	AUC              *float64 `json:"auc,omitempty"`
	F1               *float64 `json:"f1,omitempty"`
	// Rows are true classes, columns predicted ones, both in the order of Classes.
	Confusion [][]int `json:"confusion,omitempty"`

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

func runEvaluate(ctx context.Context, g *global, run string, files []string) (err error) {
	r, err := experiment.Open(run, engines.CPU())
	if err != nil {
		return err
	}
	rows, err := evaluationRows(ctx, g.Console(), r, files)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	e, err := term.Await(ctx, "evaluating", func() (evaluated, error) {
		e, err := evaluate(ctx, r, rows)
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

func evaluate(ctx context.Context, r *experiment.Released, rows experiment.Rows) (evaluated, error) {
	outputs, err := r.Predict(ctx, rows.Data)
	if err != nil {
		return evaluated{}, err
	}
	e := evaluated{Rows: rows.Data.Samples()}
	switch labels := rows.Labels.(type) {
	case *train.Classification:
		return e, e.classify(r, labels, outputs)
	case *train.Regression:
		off, err := labels.Evaluate(outputs)
		if err != nil {
			return e, err
		}
		off.RootMeanSquare, off.MeanAbsolute = rows.Label.Difference(off.RootMeanSquare), rows.Label.Difference(off.MeanAbsolute)
		e.R2 = defined(off.R2)
		if e.RootMeanSquare, e.MeanAbsolute = defined(off.RootMeanSquare), defined(off.MeanAbsolute); e.RootMeanSquare == nil {
			return e, fmt.Errorf("evaluate: the model's predictions for these rows aren't finite; train another one, with smaller learning rates")
		}
	}
	return e, nil
}

// classify adds the fields of a classification.
func (e *evaluated) classify(r *experiment.Released, labels *train.Classification, outputs []float32) error {
	counts, err := labels.Evaluate(outputs)
	if err != nil {
		return err
	}
	measured, err := scores.Classify(outputs, labels.Labels(), labels.Classes(), r.Temperature)
	if err != nil {
		return err
	}
	for i, c := range counts {
		e.Classes = append(e.Classes, evaluatedClass{r.Class(i), c.Samples, c.Right, c.Predicted})
	}
	e.Accuracy, e.LogLoss, e.CalibrationError = &measured.Accuracy, defined(measured.LogLoss), defined(measured.CalibrationError)
	e.AUC, e.F1, e.Confusion = defined(measured.AUC), defined(measured.F1), measured.Confusion
	return nil
}

// defined returns nil for a number that JSON doesn't have.
func defined(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// printEvaluated prints the result of an evaluation.
func printEvaluated(w io.Writer, e evaluated) {
	if e.Accuracy == nil {
		term.Rows(w, release.Facts{
			{"rows", release.Grouped(e.Rows)},
			{"root mean squared error", fmt.Sprintf("%.5g", *e.RootMeanSquare)},
			{"mean absolute error", fmt.Sprintf("%.5g", *e.MeanAbsolute)},
			{"R²", figureOr(e.R2, "none: every label is the same")},
		})
		return
	}
	oneClass := "none: the rows have one class"
	unbounded := "none: outputs aren't finite"
	auc := oneClass
	if e.LogLoss == nil {
		auc = unbounded
	}
	of := "mean over classes"
	if len(e.Classes) == 2 {
		of = "of " + e.Classes[1].Class
	}
	term.Rows(w, release.Facts{
		{"rows", release.Grouped(e.Rows)},
		{"accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy)},
		{"log loss", figureOr(e.LogLoss, unbounded)},
		{"calibration error", figureOr(e.CalibrationError, unbounded)},
		{"AUC, " + of, figureOr(e.AUC, auc)},
		{"F1, " + of, figureOr(e.F1, "none: it doesn't occur and isn't predicted")},
	})
	fmt.Fprintln(w)
	lines := [][]string{{"CLASS", "ROWS", "RIGHT", "PREDICTED"}}
	for _, c := range e.Classes {
		lines = append(lines, []string{c.Class, release.Grouped(c.Rows), release.Grouped(c.Right), release.Grouped(c.Predicted)})
	}
	term.Columns(w, lines...)
	printConfusion(w, e)
}

// figureOr prints a number, or why there is none.
func figureOr(v *float64, none string) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf("%.4f", *v)
}

// maxConfusionShown bounds the classes of a matrix for people: more columns don't fit on a screen.
const maxConfusionShown = 12

// printConfusion prints the confusion matrix: a class's row has its samples by the predicted class.
func printConfusion(w io.Writer, e evaluated) {
	if len(e.Confusion) == 0 || len(e.Confusion) > maxConfusionShown {
		return
	}
	fmt.Fprintln(w)
	lines := [][]string{{"PREDICTED AS"}}
	for i, row := range e.Confusion {
		lines[0] = append(lines[0], e.Classes[i].Class)
		line := []string{e.Classes[i].Class}
		for _, n := range row {
			line = append(line, release.Grouped(n))
		}
		lines = append(lines, line)
	}
	term.Columns(w, lines...)
}
