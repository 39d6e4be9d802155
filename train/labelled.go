package train

import "fmt"

// Labelled is a set of samples with labels, on which a model is scored: a [*Classification] or a [*Regression] of
// public samples, one of these with the caller's own measure, a [*Measured], or a [*HeldOut] of private samples.
type Labelled interface {
	Samples() int
	// Metric returns the metric of a model's score. A higher score is better.
	Metric() Metric
	// Constant returns the score of the best constant output: the share of the largest class for [Accuracy], 0 for
	// [R2]; see [Measured] for others. A model that has learned something scores higher.
	Constant() float64
	// Inputs returns the model's inputs, labels included; nil if there are none.
	Inputs() *Data

	outputs() int    // number of values in the model's output for one sample
	scorable() error // a [*DataError] if no output can be scored
	// score returns the score of the outputs for all samples, sample after sample. It is finite.
	score(outputs []float32) float64
}

// errNoLabels is the error of a labelled set that is nil or a zero value.
var errNoLabels = &DataError{"none; make one by NewClassification or NewRegression"}

// checkLabels returns a [*DataError] for a set whose field Data was replaced, so that its labels belong to other
// samples.
func checkLabels(labels int, data *Data) error {
	if labels != data.Samples() {
		return &DataError{fmt.Sprintf("%d labels for %d samples: its Data isn't what it was made with", labels, data.Samples())}
	}
	return nil
}

// Metric is the name of a score: one of the constants below, or the name of a [Measure].
type Metric string

// The built-in metrics. A higher score is better in all of them.
const (
	Accuracy Metric = "accuracy" // share of the samples whose class is predicted, 0 to 1
	R2       Metric = "R²"       // 1 − Σ(ŷ−y)²/Σ(y−ȳ)²: 1 for the labels themselves, 0 for their mean, unbounded below

	// NegativeLogLoss is the mean of ln p, where p is the probability of a sample's class. Held-out samples can be
	// scored by it: see [HeldOutSettings].
	NegativeLogLoss Metric = "negative log loss"
)
