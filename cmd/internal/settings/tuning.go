package settings

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/float"
)

// Tuning is the block of the search space and of the step from the best trial to the final run. The search space is
// public, and the guarantee depends on it. Hyperparameters that aren't tuned have the values in the blocks privacy and
// training.
type Tuning struct {
	Tune             []string  `yaml:"tune,flow"`   // the hyperparameters: see [Tunable], or one of the words below
	Search           string    `yaml:"search"`      // [SearchGrid] or [SearchRandom]
	Ranges           []string  `yaml:"ranges,flow"` // hyperparameters that a random search draws from ranges
	LearningRates    []float64 `yaml:"learning_rates,flow"`
	BatchSizes       []int     `yaml:"batch_sizes,flow"` // expected values on the subset; see [Tuning.Rates]
	SamplingRates    []float64 `yaml:"sampling_rates,flow"`
	Epochs           []float64 `yaml:"epochs,flow"`
	ClippingNorms    []float64 `yaml:"clipping_norms,flow"`
	LargestFinalRate float64   `yaml:"largest_final_rate"` // maximum learning rate of the final run; 0 means none
	Division         string    `yaml:"division,omitempty"` // see [Divisions]; nothing means [DivisionCost]
	Metric           string    `yaml:"metric,omitempty"`   // see [Metrics]; nothing means accuracy, or R² of numbers
}

// The hyperparameters that can be tuned, and words for several or none of them.
const (
	TuneRate   = "rate"   // the learning rate
	TuneBatch  = "batch"  // the sampling rate, which may be given as a batch size
	TuneEpochs = "epochs" // the epochs, and with them the number of steps
	TuneClip   = "clip"   // the clipping norm
	TuneAll    = "all"    // the paper's: rate, batch and, unless the noise determines them, epochs
	TuneAuto   = "auto"   // the rate, or nothing if a rule from public numbers is likely to do better
	TuneRule   = "rule"   // nothing: that rule gives all hyperparameters
)

// The ways to search.
const (
	SearchGrid   = "grid"   // candidates are the product of the lists
	SearchRandom = "random" // one or more hyperparameters are drawn from ranges
)

// The divisions of the budget over runs that differ in sampling rate or epochs.
const (
	DivisionCost  = "cost"  // every kind of run costs the same alone, as in the paper
	DivisionNoise = "noise" // all kinds have the same noise multiplier
)

// Divisions returns the names of the ways to divide the budget.
func Divisions() []string { return []string{DivisionCost, DivisionNoise} }

// The metrics that select the best trial of classes.
const (
	MetricAccuracy = "accuracy"
	MetricLogLoss  = "log-loss"
	MetricAUC      = "auc"
)

// Metrics returns the names of the metrics.
func Metrics() []string { return []string{MetricAccuracy, MetricLogLoss, MetricAUC} }

// named returns t with empty names for the defaults, so that files of earlier versions mean the same.
func (t Tuning) named() Tuning {
	if t.Metric == MetricAccuracy {
		t.Metric = ""
	}
	if t.Division == DivisionCost {
		t.Division = ""
	}
	return t
}

// Tunable returns the names of the hyperparameters that can be tuned.
func Tunable() []string { return []string{TuneRate, TuneBatch, TuneEpochs, TuneClip} }

// Searches returns the names of the ways to search.
func Searches() []string { return []string{SearchGrid, SearchRandom} }

// Tunes reports whether a hyperparameter is tuned.
func (e Experiment) Tunes(parameter string) bool {
	if parameter == TuneEpochs && e.Privacy.Fixed == FixedNoise {
		return false
	}
	all := parameter != TuneClip && slices.Contains(e.Tuning.Tune, TuneAll) || parameter == TuneRate && e.TunesBy(TuneAuto)
	return all || slices.Contains(e.Tuning.Tune, parameter)
}

// TunesBy reports whether Tune is [TuneAuto] or [TuneRule], as which says.
func (e Experiment) TunesBy(which string) bool { return slices.Equal(e.Tuning.Tune, []string{which}) }

// ByDefault reports whether an experiment has its preset's search, optimizer and runs, so that it asks for none of its
// own. What is to be guaranteed may differ.
func (e Experiment) ByDefault() bool {
	preset, err := Preset(e.Preset)
	if err != nil {
		return false
	}
	guarantee := e.Privacy
	e.Privacy, preset.Tuning.Tune = preset.Privacy, e.Tuning.Tune
	for _, p := range []*Privacy{&guarantee, &e.Privacy} {
		p.Epsilon, p.Delta, p.Accounting = nil, 0, ""
	}
	return reflect.DeepEqual([]any{guarantee, e.Training.filled(), e.Tuning.named()}, []any{e.Privacy, preset.Training.filled(), preset.Tuning.named()})
}

// Ranged reports whether a random search draws a hyperparameter from the range between the ends of its list.
func (e Experiment) Ranged(parameter string) bool {
	t := e.Tuning
	return t.Search == SearchRandom && e.Tunes(parameter) && slices.Contains(t.Ranges, parameter)
}

// Rates returns the sampling rates to draw from, given n samples and the subset rate q. They are t.SamplingRates, or
// B/(q n) for each batch size B, rounded to three significant digits as in the paper (128/6000 becomes 0.0213). All
// variants, including the baseline, have the same rates.
func (t Tuning) Rates(q float64, n int) ([]float64, error) {
	if len(t.BatchSizes) == 0 {
		return t.SamplingRates, nil
	}
	rates := make([]float64, len(t.BatchSizes))
	for i, b := range t.BatchSizes {
		rates[i] = float.Rounded(float64(b)/(q*float64(n)), 3)
		if !(rates[i] > 0 && rates[i] <= 1) {
			return nil, fmt.Errorf("tuning.batch_sizes: a batch of %d is more than the %.0f samples that are tuned on; give a smaller one", b, q*float64(n))
		}
	}
	return rates, nil
}

func (t Tuning) validate(fixed string) error {
	return cmp.Or(
		t.validateTuned(fixed),
		oneOf("tuning.search", t.Search, Searches()...),
		distinct("tuning.learning_rates", t.LearningRates, positive),
		distinct("tuning.sampling_rates", t.SamplingRates, samplingRate),
		distinct("tuning.batch_sizes", t.BatchSizes, batchSize),
		distinct("tuning.epochs", t.Epochs, positive),
		distinct("tuning.clipping_norms", t.ClippingNorms, clippingNorm),
		oneOf("tuning.division", cmp.Or(t.Division, DivisionCost), Divisions()...),
		oneOf("tuning.metric", cmp.Or(t.Metric, MetricAccuracy), Metrics()...),
		distinct("tuning.ranges", t.Ranges, func(key, name string) error { return oneOf(key, name, Tunable()...) }),
		require(len(t.BatchSizes) == 0 || len(t.SamplingRates) == 0,
			"tuning: batch_sizes and sampling_rates are both given; one follows from the other, give one"),
		require(t.LargestFinalRate >= 0 && !math.IsInf(t.LargestFinalRate, 0),
			"tuning.largest_final_rate: must be a number above 0, or 0 for none, got %v", t.LargestFinalRate),
		t.validateLists(fixed),
	)
}

func (t Tuning) validateTuned(fixed string) error {
	const key = "tuning.tune"
	return cmp.Or(
		require(len(t.Tune) > 0, "%s: must name at least one of %s, or %s", key, strings.Join(Tunable(), ", "), TuneAll),
		distinct(key, t.Tune, func(key, name string) error {
			return cmp.Or(
				require(name != TuneAuto && name != TuneRule || len(t.Tune) == 1,
					"%s: %s stands alone; leave out the others, or it", key, name),
				require(name != TuneEpochs || fixed != FixedNoise,
					"%s: with privacy.fixed noise the epochs follow, so that they can't be tuned", key),
				oneOf(key, name, append(Tunable(), TuneAll, TuneAuto, TuneRule)...),
			)
		}),
	)
}

// validateLists returns an error for a tuned parameter without values, or without the two ends of its range.
func (t Tuning) validateLists(fixed string) error {
	e := Experiment{Privacy: Privacy{Fixed: fixed}, Tuning: t}
	ranged, candidates := false, 1
	for _, list := range []struct {
		parameter, key, values string
		length                 int
	}{
		{TuneRate, "tuning.learning_rates", "rate", len(t.LearningRates)},
		{TuneBatch, "tuning.batch_sizes", "batch size; or sampling_rates one rate", len(t.BatchSizes) + len(t.SamplingRates)},
		{TuneEpochs, "tuning.epochs", "number", len(t.Epochs)},
		{TuneClip, "tuning.clipping_norms", "norm", len(t.ClippingNorms)},
	} {
		if e.Tunes(list.parameter) && list.length == 0 {
			return fmt.Errorf("%s: must list at least one %s", list.key, list.values)
		}
		if e.Tunes(list.parameter) {
			candidates *= list.length // can't overflow: four short lists
		}
		if e.Ranged(list.parameter) {
			ranged = true
			if list.length < 2 {
				return fmt.Errorf("%s: a range takes two values, its ends", list.key)
			}
		}
	}
	return cmp.Or(
		require(t.Search != SearchGrid || candidates <= maxCandidates,
			"tuning: a grid of %d candidates; at most %d can be searched, so shorten the lists, or search at random", candidates, maxCandidates),
		require(t.Search != SearchRandom || ranged,
			"tuning.ranges: nothing that is tuned has a range; name one of %s, or search a grid", strings.Join(t.Tune, ", ")),
	)
}

// maxValues bounds lists whose values are compared with all others.
const maxValues = 1000

// maxCandidates bounds a grid, whose candidates are all in memory. Of so many, a given candidate is almost never tried.
const maxCandidates = 100_000

// distinct checks all values of a list, which must differ.
func distinct[T comparable](key string, values []T, check func(key string, v T) error) error {
	if n := len(values); n > maxValues {
		return fmt.Errorf("%s: %d values; at most %d can be listed", key, n, maxValues)
	}
	for i, v := range values {
		if err := check(key, v); err != nil {
			return err
		}
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%s: %v stands twice, list it once", key, v)
		}
	}
	return nil
}

func samplingRate(key string, v float64) error {
	return require(v > 0 && v <= 1, "%s: gamma must be above 0 and at most 1, got %v", key, v)
}

func batchSize(key string, b int) error {
	return require(b >= 1, "%s: must be whole numbers above 0, got %d", key, b)
}
