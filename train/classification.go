package train

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/given"
)

// Classification is a set of samples with their classes. The model's inputs are one or more columns of the sample, and
// then its label one-hot.
type Classification struct {
	*Data
	labels  []int32
	classes int
}

// NewClassification returns a Classification of len(labels) samples. A datasets.Split holds its arguments. samples has
// len(labels) rows of equal length, and each label is in [0, classes). It copies samples and labels. The error is a
// [*DataError].
func NewClassification(samples []float32, labels []int32, classes int) (*Classification, error) {
	return ClassificationOf(copied(engine.Column{Floats: samples}), labels, classes)
}

// NewTokenClassification returns a Classification of texts. The model's inputs are the token ids, the columns in
// others, and the label one-hot, in this order. ids and each column of others have len(labels) rows of equal length. It
// copies its arguments. The error is a [*DataError].
func NewTokenClassification(ids, labels []int32, classes int, others ...[]float32) (*Classification, error) {
	return ClassificationOf(copied(slices.Concat([]engine.Column{{Ints: ids}}, engine.Floats(others...))...), labels, classes)
}

// ClassificationOf is like [NewClassification] and [NewTokenClassification], but takes over the memory of the samples,
// and copies only labels. Only packages of this module can call it: others can't make a given.Columns.
func ClassificationOf(samples given.Columns, labels []int32, classes int) (*Classification, error) {
	if classes < 2 || classes > 1<<24 {
		return nil, &DataError{fmt.Sprintf("%d classes: want 2 to %d", classes, 1<<24)}
	}
	labels = slices.Clone(labels)
	oneHot := make([]float32, len(labels)*classes)
	for i, label := range labels {
		if label < 0 || int(label) >= classes {
			return nil, &DataError{fmt.Sprintf("label %d of sample %d: want 0 to %d", label, i, classes-1)}
		}
		oneHot[i*classes+int(label)] = 1
	}
	data, err := newData(len(labels), slices.Concat(samples.Take(), engine.Floats(oneHot)))
	if err != nil {
		return nil, err
	}
	return &Classification{Data: data, labels: labels, classes: classes}, nil
}

// Samples returns the number of samples. A nil set has 0.
func (c *Classification) Samples() int { return c.Inputs().Samples() }

// Classes returns the number of classes. A nil c has 0.
func (c *Classification) Classes() int {
	if c == nil {
		return 0
	}
	return c.classes
}

// Labels returns a copy of the samples' classes. A nil c has none.
func (c *Classification) Labels() []int32 {
	if c == nil {
		return nil
	}
	return slices.Clone(c.labels)
}

// Metric returns [Accuracy].
func (c *Classification) Metric() Metric { return Accuracy }

// Constant returns the share of the largest class; 0 if there are no samples.
func (c *Classification) Constant() float64 {
	if c == nil || len(c.labels) == 0 {
		return 0
	}
	counts := make([]int, c.classes)
	for _, label := range c.labels {
		counts[label]++
	}
	return float64(slices.Max(counts)) / float64(len(c.labels))
}

// Inputs returns the samples and their labels, one-hot.
func (c *Classification) Inputs() *Data {
	if c == nil {
		return nil
	}
	return c.Data
}

func (c *Classification) outputs() int { return c.classes }

func (c *Classification) scorable() error { return checkLabels(len(c.labels), c.Data) }

// score returns the share of samples whose largest logit is the label's; 0 if there are no samples. The first of equal
// logits counts as the largest. A row with a NaN has no largest logit and counts as wrong.
func (c *Classification) score(logits []float32) float64 {
	if len(c.labels) == 0 {
		return 0
	}
	right := 0
	for i, label := range c.labels {
		if argmax(logits[i*c.classes:(i+1)*c.classes]) == int(label) {
			right++
		}
	}
	return float64(right) / float64(len(c.labels))
}

// argmax returns the first index of the largest value, or -1 if there is a NaN among the values.
func argmax(row []float32) int {
	best := 0
	for j, v := range row {
		if v != v {
			return -1
		}
		if v > row[best] {
			best = j
		}
	}
	return best
}
