package train

import (
	"fmt"
	"math"
	"slices"
)

// Measure is the caller's own metric, by which models are scored and selected in place of [Accuracy] or [R2]: see
// [ScoredBy] and [NewScored]. A higher score is better: return the negative of a loss. NaN and -∞ lose against every
// number. A measure must depend on its arguments alone and be safe for concurrent use.
type Measure interface {
	// Name names the measure with its settings, in one line, such as "recall of class 2". Scores are shown under it,
	// and an interrupted run goes on only with a measure of the same name.
	Name() string
	// Score returns the score of a model's outputs, sample after sample: a row of logits for each sample of a
	// classification, one number for each of a regression, or all values of [Model.Output] for each sample of
	// [NewScored]. It may change outputs and labels.
	Score(outputs []float32, labels Labels) float64
}

// Labels are the labels of the samples that a [Measure] scores.
type Labels struct {
	Samples int       // the number of samples, of any set
	Classes int       // the number of classes of a classification; 0 for other sets
	Class   []int32   // of each sample of a classification, from 0
	Number  []float32 // of each sample of a regression
	Columns []Column  // of the data of [NewScored], one for each input of the model; none for other sets
}

// MeasureFunc returns a [Measure] with the given Name and Score.
func MeasureFunc(name string, score func(outputs []float32, labels Labels) float64) Measure {
	return measureFunc{name, score}
}

type measureFunc struct {
	name string
	by   func([]float32, Labels) float64
}

func (m measureFunc) Name() string                                   { return m.name }
func (m measureFunc) Score(outputs []float32, labels Labels) float64 { return m.by(outputs, labels) }

// Measured is a set of samples on which models are scored by the caller's own measure. Make one by [ScoredBy] or
// [NewScored].
type Measured struct {
	data   *Data
	width  int // of the model's output for one sample, or anyOutputs
	by     Measure
	name   Metric
	labels Labels
}

// anyOutputs is the number of outputs of a set on which every model can be scored.
const anyOutputs = 0

// ScoredBy returns a labelled set on which models are scored by the caller's own measure. The set is a
// [*Classification] or a [*Regression] of public samples. Held-out samples are scored by [Accuracy] or [R2] alone,
// because the noise of a score must fit its sensitivity. The error is a [*DataError] or a [*SettingError].
func ScoredBy(set Labelled, by Measure) (*Measured, error) {
	var labels Labels
	switch set := set.(type) {
	case *Classification:
		if set == nil || set.Data == nil {
			return nil, errNoLabels
		}
		labels = Labels{Samples: len(set.labels), Classes: set.classes, Class: set.labels}
	case *Regression:
		if set == nil || set.Data == nil {
			return nil, errNoLabels
		}
		labels = Labels{Samples: len(set.targets), Number: set.targets}
	case *Measured:
		return nil, &DataError{"a set that has a measure already: make another one of what it was made of"}
	case *HeldOut:
		return nil, errUnknownSensitivity
	default:
		return nil, &DataError{fmt.Sprintf("a %T: want a *train.Classification or *train.Regression", set)}
	}
	return measured(set.Inputs(), set.outputs(), labels, by)
}

// NewScored returns a set of public samples on which models are scored by the caller's own measure, from outputs of any
// size and the samples' columns: [Labels].Columns. So models of tokens, of several labels, of ranks or of densities are
// scored and tuned. data has the columns of the model's inputs. The error is a [*DataError] or a [*SettingError].
func NewScored(data *Data, by Measure) (*Measured, error) {
	if data.Samples() == 0 {
		return nil, &DataError{"no samples to score; make some by NewData"}
	}
	own := *data // so that an assignment to *data reaches neither the measure nor the hash
	return measured(&own, anyOutputs, Labels{Samples: own.Samples(), Columns: own.columns.Columns}, by)
}

func measured(data *Data, width int, labels Labels, by Measure) (*Measured, error) {
	m := &Measured{data: data, width: width, by: by, labels: labels}
	if err := m.scorable(); err != nil {
		return nil, err
	}
	if f, ok := by.(measureFunc); by == nil || ok && f.by == nil {
		return nil, &SettingError{"measure", "missing", "one, such as train.MeasureFunc makes"}
	}
	if err := calling("its name", func() error { m.name = Metric(by.Name()); return nil }); err != nil {
		return nil, &SettingError{"measure", fmt.Sprintf("a %T", by), "one that has a name: " + err.Error()}
	}
	if err := validateName("name of the measure", string(m.name)); err != nil {
		return nil, err
	}
	if m.name == Accuracy || m.name == R2 {
		return nil, &SettingError{"name of the measure", string(m.name), "a name of its own, not that of a metric that is built in"}
	}
	return m, nil
}

// errUnknownSensitivity reports a measure whose sum over samples changes by an unknown amount with one sample.
var errUnknownSensitivity = &DataError{"scores on held-out samples need noise, and how much one sample changes a measure of your own isn't known: score them by accuracy or R², whose sensitivity is, or give a public test set"}

// Samples returns the number of samples. A nil set has 0.
func (m *Measured) Samples() int { return m.Inputs().Samples() }

// Metric returns the name of the measure.
func (m *Measured) Metric() Metric { return m.name }

// Constant returns the score of one output for all samples. In a classification the output is the logarithms of the
// classes' shares, each class with one sample more, which predicts the largest class. In a regression it is the mean of
// the labels. By some measures another constant may score higher. A set of [NewScored] has no known constant output and
// returns -math.MaxFloat64, as a set without samples does.
func (m *Measured) Constant() float64 {
	if m.Samples() == 0 || m.width == anyOutputs {
		return -math.MaxFloat64
	}
	row := make([]float32, m.width)
	if n := m.labels.Classes; n > 0 {
		counts := make([]float64, n)
		for _, label := range m.labels.Class {
			counts[label]++
		}
		for k, count := range counts {
			row[k] = float32(math.Log((count + 1) / float64(m.Samples()+n)))
		}
	} else {
		mean := 0.0
		for _, y := range m.labels.Number {
			mean += float64(y) / float64(len(m.labels.Number))
		}
		row[0] = float32(mean)
	}
	return m.score(slices.Repeat(row, m.Samples()))
}

// Inputs returns the samples and their labels.
func (m *Measured) Inputs() *Data {
	if m == nil {
		return nil
	}
	return m.data
}

func (m *Measured) outputs() int { return m.width }

func (m *Measured) scorable() error { return checkLabels(m.labels.Samples, m.data) }

// score returns the lowest finite score if the measure panics.
func (m *Measured) score(outputs []float32) float64 {
	score, err := m.measure(outputs)
	if err != nil {
		return -math.MaxFloat64
	}
	return score
}

// measure returns the score of outputs, which it may change. It is finite. The error reports a panic.
func (m *Measured) measure(outputs []float32) (score float64, err error) {
	labels := m.labels
	labels.Class, labels.Number, labels.Columns = slices.Clone(labels.Class), slices.Clone(labels.Number), copied(labels.Columns...).Take()
	if err := calling("it", func() error { score = m.by.Score(outputs, labels); return nil }); err != nil {
		return 0, fmt.Errorf("score by measure %s: %w", m.name, err)
	}
	if math.IsNaN(score) {
		return -math.MaxFloat64, nil
	}
	return within(score, -math.MaxFloat64, math.MaxFloat64), nil
}
