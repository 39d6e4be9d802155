package train

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/given"
)

// Regression is a set of samples whose labels are numbers. The model has two inputs, the sample and its label, and one
// output.
type Regression struct {
	*Data
	targets []float32
}

// NewRegression returns a Regression of len(targets) samples: samples has that many rows of equal length. It copies
// samples and targets. The error is a [*DataError].
func NewRegression(samples, targets []float32) (*Regression, error) {
	return RegressionOf(copied(engine.Column{Floats: samples}), targets)
}

// RegressionOf is like [NewRegression], but takes over the memory of the samples, one column, and copies only targets.
// Only packages of this module can call it: others can't make a given.Columns.
func RegressionOf(samples given.Columns, targets []float32) (*Regression, error) {
	targets = slices.Clone(targets)
	data, err := newData(len(targets), slices.Concat(samples.Take(), engine.Floats(targets)))
	if err != nil {
		return nil, err
	}
	return &Regression{Data: data, targets: targets}, nil
}

// Samples returns the number of samples. A nil set has 0.
func (r *Regression) Samples() int { return r.Inputs().Samples() }

// Metric returns [R2].
func (r *Regression) Metric() Metric { return R2 }

// Constant returns 0, the R² of the mean of the labels.
func (r *Regression) Constant() float64 { return 0 }

// Inputs returns the samples and their labels.
func (r *Regression) Inputs() *Data {
	if r == nil {
		return nil
	}
	return r.Data
}

func (r *Regression) outputs() int { return 1 }

// scorable refuses labels that are all the same: R² divides errors by their variance.
func (r *Regression) scorable() error {
	if err := checkLabels(len(r.targets), r.Data); err != nil {
		return err
	}
	if len(r.targets) < 2 || slices.Min(r.targets) == slices.Max(r.targets) {
		return &DataError{"every label is the same number: R² takes labels that differ"}
	}
	return nil
}

// score returns the R² of outputs; the most negative float64 if it isn't finite.
func (r *Regression) score(outputs []float32) float64 {
	mean := 0.0
	for _, y := range r.targets {
		mean += float64(y) / float64(len(r.targets))
	}
	var squares, total float64
	for i, y := range r.targets {
		e, d := float64(outputs[i])-float64(y), float64(y)-mean
		squares += e * e
		total += d * d
	}
	if score := 1 - squares/total; score >= -math.MaxFloat64 {
		return score
	}
	return -math.MaxFloat64
}
