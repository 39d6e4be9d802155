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
		repetitionsShape(p.Shape),
		maxRepetitions(p),
		holdout(p.Holdout, e.Data, e.Tuning.Metric),
		positive("privacy.epochs", p.Epochs),
		clippingNorm("privacy.clipping_norm", p.ClippingNorm),
		oneOf("privacy.clipping", cmp.Or(p.Clipping, ClippingFixed), Clippings()...),
		e.automatic(),
		positive("training.learning_rate", e.Training.LearningRate),
		positive("activation.scale", e.Activation.Scale),
		positive("activation.temperature", e.Activation.Temperature),
		finite("activation.offset", e.Activation.Offset),
		e.Tuning.validate(p.Fixed),
		textLength(e.TextLength),
		workers(e.Performance.Workers),
		oneOf("performance.engine", e.Performance.Engine, Engines()...),
		devices(e.Performance),
	)
}

// budget checks that two of epsilon, noise and epochs are given: they determine the third.
func budget(p Privacy) error {
	if err := oneOf("privacy.fixed", p.Fixed, FixedEpochs, FixedNoise); err != nil {
		return err
	}
	given := p.Epsilon != nil && p.NoiseMultiplier != nil
	switch {
	case p.Fixed == FixedNoise && !given:
		return fmt.Errorf("privacy.fixed: with noise, give both epsilon and noise_multiplier; the epochs follow")
	case p.Fixed == FixedEpochs && given:
		return fmt.Errorf("privacy: %w", errBothGiven)
	case p.Epsilon == nil && p.NoiseMultiplier == nil:
		return fmt.Errorf("privacy: give exactly one of epsilon (the noise is then calibrated) and noise_multiplier")
	}
	return nil
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
	if !ok || mu > 1e6 {
		return fmt.Errorf("privacy.mean_repetitions: must be %s and at most 1e6 with %s repetitions, got %v", low, distribution, mu)
	}
	return nil
}

// repetitionsShape has a maximum at which the distribution is almost the truncated Poisson distribution.
func repetitionsShape(eta float64) error {
	if !(eta > -1 && eta <= 1e6) {
		return fmt.Errorf("privacy.repetitions_shape: must be above -1 and at most 1e6, got %v", eta)
	}
	return nil
}

// maxRepetitions allows for the largest mean at a probability of a half.
func maxRepetitions(p Privacy) error {
	n := p.MaxRepetitions
	if n < 0 || n > 2e6 {
		return fmt.Errorf("privacy.max_repetitions: must be at most 2e6, or 0 for twice the mean, got %d", n)
	}
	if p.Repetitions == Binomial && n > 0 && float64(n) < p.MeanRepetitions {
		return fmt.Errorf("privacy.max_repetitions: must be at least the mean of %v, got %d", p.MeanRepetitions, n)
	}
	return nil
}

// clippingNorm has the range of train.Privacy: far beyond it, gradients of that norm overflow single precision.
func clippingNorm(key string, c float64) error {
	if !(c >= 1e-9 && c <= 1e9) {
		return fmt.Errorf("%s: must lie between 1e-9 and 1e9, got %v", key, c)
	}
	return nil
}

// automatic checks that no clipping norms are searched that would be learning rates in disguise.
func (e Experiment) automatic() error {
	if e.Privacy.Clipping == ClippingAutomatic && e.Tunes(TuneClip) {
		return fmt.Errorf("privacy.clipping: automatic clipping needs no search for the clipping norm, which scales the learning rate of dp-sgd and has next to no effect on dp-adam; leave clip out of tuning.tune, set one clipping norm and search the rate")
	}
	return nil
}

func holdout(rate float64, d Data, metric string) error {
	if rate > 0 && metric == MetricAUC {
		return fmt.Errorf("tuning.metric: auc compares pairs of rows, so one row changes it by more than a bounded term, and held-out rows are private: choose log-loss or accuracy, or give public test rows by --test FILE instead of --holdout")
	}
	if !(rate >= 0 && rate < 1) {
		return fmt.Errorf("privacy.holdout: must be 0, for none, or a share below 1 such as 0.1, got %v", rate)
	}
	if rate > 0 && d.Unit != "" { // some rows of a unit would be held out and others not
		return fmt.Errorf("privacy.holdout: rows are held out one by one, and the unit of privacy is that of column %s; give public test rows by --test FILE instead, or leave out the unit", d.Unit)
	}
	return nil
}

func positive(key string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: must be a number above 0, got %v", key, v)
	}
	return nil
}

func fraction(key string, v float64) error {
	if !(v > 0 && v < 1) {
		return fmt.Errorf("%s: must lie strictly between 0 and 1, got %v", key, v)
	}
	return nil
}

func finite(key string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: must be a finite number, got %v", key, v)
	}
	return nil
}

// textLength has the maximum of package datasets. A text has a token at each end.
func textLength(n int) error {
	if n != 0 && (n < 2 || n > 1<<14) {
		return fmt.Errorf("text_length: must be 2 to %d tokens, got %d", 1<<14, n)
	}
	return nil
}

func workers(n int) error {
	if n < 0 || n > 1024 {
		return fmt.Errorf("performance.workers: must be 0 (one for each core) to 1024, got %d", n)
	}
	return nil
}

// devices checks the indices of GPUs. Opening the GPUs shows whether they exist.
func devices(p Performance) error {
	const key = "performance.devices"
	if p.Engine == EngineCPU && len(p.Devices) > 0 {
		return fmt.Errorf("%s: GPUs are given, but performance.engine is cpu, which uses none; leave out one of --devices and --engine", key)
	}
	return distinct(key, p.Devices, func(key string, n int) error {
		if n < 0 {
			return fmt.Errorf("%s: GPUs are numbered from 0, got %d; see dptrain devices", key, n)
		}
		return nil
	})
}

func oneOf(key, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return fmt.Errorf("%s: must be one of %s; got %q", key, strings.Join(allowed, ", "), v)
}
