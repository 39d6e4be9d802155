package main

import (
	"fmt"
	"io"

	"github.com/dptrain/dptrain/cmd/internal/release"
)

// printEvaluated prints the result of an evaluation.
func printEvaluated(w io.Writer, e evaluated) {
	if e.Accuracy == nil {
		rows(w,
			[2]string{"rows", release.Grouped(e.Rows)},
			[2]string{"root mean squared error", fmt.Sprintf("%.5g", *e.RootMeanSquare)},
			[2]string{"mean absolute error", fmt.Sprintf("%.5g", *e.MeanAbsolute)},
			[2]string{"R²", figureOr(e.R2, "none: every label is the same")})
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
	rows(w,
		[2]string{"rows", release.Grouped(e.Rows)},
		[2]string{"accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy)},
		[2]string{"log loss", figureOr(e.LogLoss, unbounded)},
		[2]string{"calibration error", figureOr(e.CalibrationError, unbounded)},
		[2]string{"AUC, " + of, figureOr(e.AUC, auc)},
		[2]string{"F1, " + of, figureOr(e.F1, "none: it doesn't occur and isn't predicted")})
	fmt.Fprintln(w)
	lines := [][]string{{"CLASS", "ROWS", "RIGHT", "PREDICTED"}}
	for _, c := range e.Classes {
		lines = append(lines, []string{c.Class, release.Grouped(c.Rows), release.Grouped(c.Right), release.Grouped(c.Predicted)})
	}
	columns(w, lines...)
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
	columns(w, lines...)
}
