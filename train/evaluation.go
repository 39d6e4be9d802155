package train

import (
	"fmt"
	"math"
)

// ClassCounts says what a model takes the samples of one class for.
type ClassCounts struct {
	Samples   int // of the class
	Right     int // of them, those that the model takes for the class
	Predicted int // samples of any class that the model takes for it
}

// Evaluate returns how the classes fare under outputs for all samples, one row of logits after the other. A sample with a
// NaN among its logits is taken for no class. On private samples this is a private statistic.
func (c *Classification) Evaluate(outputs []float32) ([]ClassCounts, error) {
	if c == nil {
		return nil, errNoLabels
	}
	if err := checkOutputs(len(outputs), len(c.labels), c.classes); err != nil {
		return nil, err
	}
	counts := make([]ClassCounts, c.classes)
	for i, label := range c.labels {
		predicted := argmax(outputs[i*c.classes : (i+1)*c.classes])
		counts[label].Samples++
		if predicted == int(label) {
			counts[label].Right++
		}
		if predicted >= 0 {
			counts[predicted].Predicted++
		}
	}
	return counts, nil
}

// Errors says how far a model's numbers are from the labels, in the labels' unit.
type Errors struct {
	RootMeanSquare float64
	MeanAbsolute   float64
	R2             float64 // NaN where all labels are the same
}

// Evaluate returns how far outputs for all samples are off. On private samples this is a private statistic.
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

// Predicted returns the class of the largest of a sample's logits, the first of equals, or -1 if there is a NaN.
func Predicted(logits []float32) int { return argmax(logits) }

// Probabilities returns what a model holds of each class by a sample's logits: their softmax.
func Probabilities(logits []float32) []float64 {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = math.Max(largest, float64(v))
	}
	p, sum := make([]float64, len(logits)), 0.0
	for i, v := range logits {
		if math.IsInf(largest, 1) { // its share is all, and an infinity less itself is no number
			p[i] = 0
			if float64(v) == largest {
				p[i] = 1
			}
		} else {
			p[i] = math.Exp(float64(v) - largest)
		}
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
