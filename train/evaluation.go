package train

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// ClassCounts counts the predictions that concern one class.
type ClassCounts struct {
	Samples   int // samples of the class
	Right     int // samples of the class that are predicted as the class
	Predicted int // samples of any class that are predicted as the class
}

// Errors measures how far a model's outputs are from the labels. RootMeanSquare and MeanAbsolute are in the labels'
// unit.
type Errors struct {
	RootMeanSquare float64
	MeanAbsolute   float64
	R2             float64 // NaN where all labels are the same
}

// Evaluate returns the errors of a model's outputs, which hold one number for each sample. On private samples the
// result is a private statistic.
func (r *Regression) Evaluate(outputs []float32) (Errors, error) {
	if r == nil {
		return Errors{}, errNoLabels
	}
	if err := checkOutputs(len(outputs), len(r.targets), 1); err != nil {
		return Errors{}, err
	}
	var e Errors
	n := float64(len(r.targets))
	for i, y := range r.targets {
		d := float64(outputs[i]) - float64(y)
		e.RootMeanSquare += d * d / n
		e.MeanAbsolute += math.Abs(d) / n
	}
	e.RootMeanSquare, e.R2 = math.Sqrt(e.RootMeanSquare), math.NaN()
	if r.scorable() == nil {
		e.R2 = r.score(outputs)
	}
	return e, nil
}

func checkOutputs(got, samples, each int) error {
	if got != samples*each {
		return &DataError{fmt.Sprintf("%d outputs for %d samples: want %d for each", got, samples, each)}
	}
	return nil
}

// Predicted returns the class that a sample's logits predict: the index of the largest logit, or the first such index
// of several, or -1 if a logit is NaN.
func Predicted(logits []float32) int { return argmax(logits) }

// Probabilities returns the softmax of one sample's logits.
func Probabilities(logits []float32) []float64 { return float.Softmax(logits, 1) }
