package settings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Validate returns an error for the first invalid setting, or nil. The error is one line and lists valid values.
// Validate doesn't check that a model or a data set exists.
func (e Experiment) Validate() error {
	p := e.Privacy
	one := 1.0 // in place of what isn't given
	return cmp.Or(
		budget(p),
		positive("privacy.epsilon", *cmp.Or(p.Epsilon, &one)),
		positive("privacy.noise_multiplier", *cmp.Or(p.NoiseMultiplier, &one)),
		fraction("privacy.delta", p.Delta),
		fraction("privacy.subset_rate", p.SubsetRate),
		e.validateData(),
		samplingRate("privacy.sampling_rate", p.SamplingRate),
		oneOf("privacy.accounting", p.Accounting, "paper", "tight", "best"),
		oneOf("privacy.variant", p.Variant, "1", "2", "baseline"),
		e.Training.validate(),
		oneOf("privacy.repetitions", p.Repetitions, Repetitions()...),
		meanRepetitions(p.Repetitions, p.MeanRepetitions),
		// At the maximum the distribution is almost the truncated Poisson distribution.
		require(p.Shape > -1 && p.Shape <= 1e6, "privacy.repetitions_shape: must be above -1 and at most 1e6, got %v", p.Shape),
		maxRepetitions(p),
		holdout(p.Holdout, e.Data, e.Tuning.Metric),
		positive("privacy.epochs", p.Epochs),
		clippingNorm("privacy.clipping_norm", p.ClippingNorm),
		oneOf("privacy.clipping", cmp.Or(p.Clipping, ClippingFixed), Clippings()...),
		// Clipping norms that are searched would be learning rates in disguise.
		require(p.Clipping != ClippingAutomatic || !e.Tunes(TuneClip),
			"privacy.clipping: automatic clipping needs no search for the clipping norm, which scales the learning rate of dp-sgd and has next to no effect on dp-adam; leave clip out of tuning.tune, set one clipping norm and search the rate"),
		positive("training.learning_rate", e.Training.LearningRate),
		positive("activation.scale", e.Activation.Scale),
		positive("activation.temperature", e.Activation.Temperature),
		finite("activation.offset", e.Activation.Offset),
		e.Tuning.validate(p.Fixed),
		// The maximum is package datasets'. A text has a token at each end.
		require(e.TextLength == 0 || e.TextLength >= 2 && e.TextLength <= 1<<14,
			"text_length: must be 2 to %d tokens, got %d", 1<<14, e.TextLength),
		require(e.Performance.Workers >= 0 && e.Performance.Workers <= 1024,
			"performance.workers: must be 0 (one for each core) to 1024, got %d", e.Performance.Workers),
		oneOf("performance.engine", e.Performance.Engine, Engines()...),
		devices(e.Performance),
	)
}

// require returns an error with the given text unless a setting is as it must be.
func require(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// budget checks that two of epsilon, noise and epochs are given: they determine the third.
func budget(p Privacy) error {
	both, none := p.Epsilon != nil && p.NoiseMultiplier != nil, p.Epsilon == nil && p.NoiseMultiplier == nil
	return cmp.Or(
		oneOf("privacy.fixed", p.Fixed, FixedEpochs, FixedNoise),
		require(p.Fixed != FixedNoise || both, "privacy.fixed: with noise, give both epsilon and noise_multiplier; the epochs follow"),
		require(p.Fixed != FixedEpochs || !both, "privacy: %w", errBothGiven),
		require(!none, "privacy: give exactly one of epsilon (the noise is then calibrated) and noise_multiplier"),
	)
}

// meanRepetitions has the maximum of package tuner, which keeps all trials. A mean of 1 means that K is always 1,
// which no Poisson rate gives.
func meanRepetitions(distribution string, mu float64) error {
	low, ok := "above 0", mu > 0
	switch distribution {
	case "poisson", Binomial:
	case Fixed:
		low, ok = "a whole number from 1 on", mu >= 1 && mu == math.Trunc(mu)
	case "truncated-poisson":
		low, ok = "above 1", mu > 1
	default:
		low, ok = "at least 1", mu >= 1
	}
	return require(ok && mu <= 1e6, "privacy.mean_repetitions: must be %s and at most 1e6 with %s repetitions, got %v", low, distribution, mu)
}

// maxRepetitions allows for the largest mean at a probability of a half.
func maxRepetitions(p Privacy) error {
	n := p.MaxRepetitions
	return cmp.Or(
		require(n >= 0 && n <= 2e6, "privacy.max_repetitions: must be at most 2e6, or 0 for twice the mean, got %d", n),
		require(p.Repetitions != Binomial || n <= 0 || float64(n) >= p.MeanRepetitions,
			"privacy.max_repetitions: must be at least the mean of %v, got %d", p.MeanRepetitions, n),
	)
}

// clippingNorm has the range of train.Privacy: far beyond it, gradients of that norm overflow single precision.
func clippingNorm(key string, c float64) error {
	return require(c >= 1e-9 && c <= 1e9, "%s: must lie between 1e-9 and 1e9, got %v", key, c)
}

func holdout(rate float64, d Data, metric string) error {
	return cmp.Or(
		require(!(rate > 0) || metric != MetricAUC,
			"tuning.metric: auc compares pairs of rows, so one row changes it by more than a bounded term, and held-out rows are private: choose log-loss or accuracy, or give public test rows by --test FILE instead of --holdout"),
		require(rate >= 0 && rate < 1, "privacy.holdout: must be 0, for none, or a share below 1 such as 0.1, got %v", rate),
		require(rate == 0 || d.Unit == "", // some rows of a unit would be held out and others not
			"privacy.holdout: rows are held out one by one, and the unit of privacy is that of column %s; give public test rows by --test FILE instead, or leave out the unit", d.Unit),
	)
}

func positive(key string, v float64) error {
	return require(v > 0 && !math.IsInf(v, 0), "%s: must be a number above 0, got %v", key, v)
}

func fraction(key string, v float64) error {
	return require(v > 0 && v < 1, "%s: must lie strictly between 0 and 1, got %v", key, v)
}

func finite(key string, v float64) error {
	return require(!math.IsNaN(v) && !math.IsInf(v, 0), "%s: must be a finite number, got %v", key, v)
}

// devices checks the indices of GPUs. Opening the GPUs shows whether they exist.
func devices(p Performance) error {
	const key = "performance.devices"
	return cmp.Or(
		require(p.Engine != EngineCPU || len(p.Devices) == 0,
			"%s: GPUs are given, but performance.engine is cpu, which uses none; leave out one of --devices and --engine", key),
		distinct(key, p.Devices, func(key string, n int) error {
			return require(n >= 0, "%s: GPUs are numbered from 0, got %d; see dptrain devices", key, n)
		}),
	)
}

func oneOf(key, v string, allowed ...string) error {
	return require(slices.Contains(allowed, v), "%s: must be one of %s; got %q", key, strings.Join(allowed, ", "), v)
}
