package train

import "fmt"

// Labelled is a set of samples with the labels that a model's outputs are scored against: a [*Classification] or a
// [*Regression].
type Labelled interface {
	Samples() int
	// Metric says what the score of a model is. A higher one is better.
	Metric() Metric
	// Constant returns the score of the best output that is the same for every sample, which a model has to exceed to
	// have learnt anything: the share of the largest class, or 0 for the mean.
	Constant() float64
	// Inputs returns what goes into the model, labels included; nil if there is nothing.
	Inputs() *Data

	outputs() int    // values of the model's output for one sample
	scorable() error // a [*DataError] if no output can be scored
	// score takes the outputs for all samples, one after the other. It is finite.
	score(outputs []float32) float64
}

// errNoLabels is the error of a labelled set that is nil or a zero value.
var errNoLabels = &DataError{"none; make one by NewClassification or NewRegression"}

// checkLabels refuses a set whose Data another one was put in place of: its labels belong to other samples.
func checkLabels(labels int, data *Data) error {
	if labels != data.Samples() {
		return &DataError{fmt.Sprintf("%d labels for %d samples: its Data isn't what it was made with", labels, data.Samples())}
	}
	return nil
}

// Metric names a score.
type Metric string

// The metrics.
const (
	Accuracy Metric = "accuracy" // share of the samples whose class the model gets right, 0 to 1
	R2       Metric = "R²"       // 1 − Σ(ŷ−y)²/Σ(y−ȳ)²: 1 for the labels themselves, 0 for their mean, unbounded below
)
