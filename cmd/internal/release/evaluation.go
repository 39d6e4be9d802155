package release

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/train"
)

// Evaluation is a classification, measured on labelled rows. It is as public as the rows and the model. Numbers that
// aren't defined are nil: JSON has no NaN.
type Evaluation struct {
	Rows             int              `json:"rows"`
	Accuracy         *float64         `json:"accuracy,omitempty"`
	Classes          []EvaluatedClass `json:"classes,omitempty"`
	LogLoss          *float64         `json:"log_loss,omitempty"`
	SharesLogLoss    *float64         `json:"log_loss_of_class_frequencies,omitempty"`
	CalibrationError *float64         `json:"calibration_error,omitempty"`
	Rarer            string           `json:"rarer_class,omitempty"` // of two, that of AUC and F1
	AUC              *float64         `json:"auc,omitempty"`
	F1               *float64         `json:"f1,omitempty"`
	// Rows are true classes, columns predicted ones, both in the order of Classes.
	Confusion [][]int `json:"confusion,omitempty"`
}

// EvaluatedClass counts the rows that concern one class.
type EvaluatedClass struct {
	Class     string `json:"class"`
	Rows      int    `json:"rows"`
	Right     int    `json:"right"`
	Predicted int    `json:"predicted"`
}

// EvaluationOf returns the measures of a classification whose classes have the given names.
func EvaluationOf(c scores.Classification, name func(class int) string) Evaluation {
	e := Evaluation{
		Accuracy: &c.Accuracy, LogLoss: Defined(c.LogLoss), SharesLogLoss: &c.SharesLogLoss, CalibrationError: Defined(c.CalibrationError),
		AUC: Defined(c.AUC), F1: Defined(c.F1), Confusion: c.Confusion,
	}
	for k, n := range c.Counts {
		e.Rows += n.Samples
		e.Classes = append(e.Classes, EvaluatedClass{name(k), n.Samples, n.Right, n.Predicted})
	}
	if c.Rarer >= 0 {
		e.Rarer = name(c.Rarer)
	}
	return e
}

// Defined returns nil for a number that JSON doesn't have.
func Defined(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// Facts returns the measures but the confusion matrix.
func (e Evaluation) Facts() Facts {
	unbounded := "none: outputs aren't finite"
	auc, of := "none: the rows have one class", "mean over classes"
	if e.LogLoss == nil {
		auc = unbounded
	}
	if len(e.Classes) == 2 {
		of = "of " + e.Rarer
	}
	facts := Facts{{"rows", Grouped(e.Rows)}}
	if e.Accuracy != nil {
		facts.Add("accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy))
	}
	loss := FigureOr(e.LogLoss, unbounded)
	if e.LogLoss != nil && e.SharesLogLoss != nil {
		loss += fmt.Sprintf("; class frequencies have %.4f", *e.SharesLogLoss)
	}
	return append(facts,
		Fact{"log loss", loss},
		Fact{"calibration error", FigureOr(e.CalibrationError, unbounded)},
		Fact{"AUC, " + of, FigureOr(e.AUC, auc)},
		Fact{"F1, " + of, FigureOr(e.F1, "none: it doesn't occur and isn't predicted")})
}

// FigureOr returns a number as text, or why there is none.
func FigureOr(v *float64, none string) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf("%.4f", *v)
}

// maxConfusionShown bounds the classes of a matrix for people: more columns don't fit on a screen.
const maxConfusionShown = 12

// Matrix returns the confusion matrix as texts below a line of headings, a class's row with its samples by the
// predicted class; nil if there is none or it is too large to show.
func (e Evaluation) Matrix() [][]string {
	if n := len(e.Confusion); n == 0 || n > maxConfusionShown || n != len(e.Classes) {
		return nil
	}
	lines := [][]string{{"PREDICTED AS"}}
	for i, row := range e.Confusion {
		lines[0] = append(lines[0], e.Classes[i].Class)
		line := []string{e.Classes[i].Class}
		for _, n := range row {
			line = append(line, Grouped(n))
		}
		lines = append(lines, line)
	}
	return lines
}

// Score is the released model's score on the public test set, or an estimate of it from held-out samples. Without a
// metric there is none.
type Score struct {
	Metric  train.Metric
	Value   float64
	HeldOut *[2]float64 // 95 % confidence interval of an estimate
}

// AUC is the area under the ROC curve: see scores.Classification.
const AUC train.Metric = "AUC"

// Metrics returns the metrics of released scores.
func Metrics() []train.Metric {
	return []train.Metric{train.Accuracy, train.R2, train.NegativeLogLoss, AUC}
}

// Key returns the name of the score in files.
func (s Score) Key() string {
	key := "test_"
	if s.HeldOut != nil {
		key = "held_out_"
	}
	if s.Metric == train.R2 {
		return key + "r2"
	}
	return key + strings.ReplaceAll(strings.ToLower(string(s.Metric)), " ", "_")
}

// String returns the value, accuracy in per cent.
func (s Score) String() string {
	switch s.Metric {
	case "":
		return "none"
	case train.Accuracy:
		return fmt.Sprintf("%.2f %%", 100*s.Value)
	}
	if s.Value < -1e4 { // a regression that diverged
		return fmt.Sprintf("%.4g", s.Value)
	}
	return fmt.Sprintf("%.4f", s.Value)
}
