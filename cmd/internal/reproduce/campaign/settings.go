package campaign

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Scale makes runs smaller than the paper's. Its zero value leaves them at full size.
type Scale struct {
	Epochs float64 `json:"epochs,omitempty"` // a share of the paper's
	Trials float64 `json:"trials,omitempty"` // a share of the paper's mu
}

// Quick returns the scale at which all figures take minutes. Its results are no evidence: models have hardly learnt.
func Quick() Scale { return Scale{Epochs: 0.05, Trials: 0.2} }

// Full reports whether runs have the paper's size.
func (s Scale) Full() bool { return s == Scale{} }

// String describes how runs are smaller. It is empty at full size.
func (s Scale) String() string {
	if s.Full() {
		return ""
	}
	return fmt.Sprintf("%.3g %% of the epochs and %.3g %% of the trials", 100*s.Epochs, 100*s.Trials)
}

// name returns [Result].Size of runs at this scale.
func (s Scale) name() string { return cmp.Or(s.String(), "full") }

var variants = map[Method]string{Variant1: "1", Variant2: "2", Baseline: "baseline", Single: "baseline"}

// Experiment returns the settings of a cell's tuning; for a single run, of its baseline's tuning.
func (s Scale) Experiment(c Cell) (settings.Experiment, error) {
	e, err := settings.Resolve(settings.File{}, []settings.Override{
		{Key: "preset", Value: c.Preset()},
		{Key: "privacy.variant", Value: variants[c.Method]},
		{Key: "privacy.accounting", Value: c.Accounting},
		{Key: "privacy.epsilon", Value: strconv.FormatFloat(c.Epsilon, 'g', -1, 64)},
		{Key: "tuning.division", Value: settings.DivisionCost}, // the paper's, whatever the default
	})
	if err != nil || s.Full() {
		return e, err
	}
	e.Privacy.MeanRepetitions *= s.Trials
	e.Privacy.Epochs *= s.Epochs
	for i := range e.Tuning.Epochs {
		e.Tuning.Epochs[i] *= s.Epochs
	}
	return e, e.Validate()
}

// settingsOf returns the settings of a cell's run, given the settings of its tuning. A single run has the
// hyperparameters of its baseline's model. If the baseline drew no trial and released an untrained model, the single
// run trains all the same, with the untrained model's hyperparameters.
func (c Cell) settingsOf(e settings.Experiment, baseline *Result) (experiment.Settings, error) {
	if c.Method != Single {
		return experiment.Settings{Experiment: e, Tune: true}, nil
	}
	if baseline == nil {
		return experiment.Settings{}, fmt.Errorf("%s: it needs the baseline's hyperparameters, and the baseline isn't finished", c)
	}
	noise := baseline.NoiseMultiplier
	e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, &noise
	e.Privacy.SamplingRate, e.Privacy.ClippingNorm = baseline.SamplingRate, baseline.ClippingNorm
	e.Training.LearningRate = baseline.TunedLearningRate
	switch {
	case baseline.Steps > 0:
		e.Privacy.Epochs = epochsOf(baseline.Steps, baseline.SamplingRate)
	case c.Space == All:
		e.Privacy.Epochs = e.Tuning.Epochs[0]
	}
	return experiment.Settings{Experiment: e}, e.Validate()
}

// epochsOf returns epochs that give a number of steps. Nine digits do for every number of steps below 10⁸, and are
// easier to read than the product.
func epochsOf(steps int, samplingRate float64) float64 {
	exact := float64(steps) * samplingRate
	digits := math.Pow10(9 - int(math.Ceil(math.Log10(exact))))
	return math.Round(exact*digits) / digits
}

// same reports whether settings are equal but for performance, which doesn't change a run.
func same(a, b settings.Experiment) bool {
	a.Performance, b.Performance = settings.Performance{}, settings.Performance{}
	one, errOne := a.YAML()
	other, errOther := b.YAML()
	return errOne == nil && errOther == nil && string(one) == string(other)
}
