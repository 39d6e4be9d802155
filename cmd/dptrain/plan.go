package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

var methods = map[string]tuner.Method{"1": tuner.Variant1, "2": tuner.Variant2, "baseline": tuner.Baseline}

// planTuning turns an experiment on n samples into settings that keep to its budget, and says what they
// guarantee.
func planTuning(e configs.Experiment, n int) (tuner.Settings, report.Privacy, error) {
	p := e.Privacy
	steps, err := stepsOf(p)
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	r, err := repetitionsOf(p)
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	privacy, err := spend(p, n, steps, func(noise float64) accountant.Event {
		return tuningSettings(e, r, n, steps, noise).Event()
	})
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	privacy.Tuning = statedTuning(e)
	settings := tuningSettings(e, r, n, steps, privacy.NoiseMultiplier)
	return settings, privacy, settings.Validate()
}

// statedTuning is what the statement says about the search.
func statedTuning(e configs.Experiment) *report.Tuning {
	p := e.Privacy
	t := &report.Tuning{
		Method:          methodName(p.Variant),
		Repetitions:     p.Repetitions,
		MeanRepetitions: p.MeanRepetitions,
		LearningRates:   e.Tuning.LearningRates,
		WarmStart:       e.Tuning.WarmStart,
	}
	if methods[p.Variant] != tuner.Baseline {
		t.SubsetRate = p.SubsetRate
	}
	if p.Repetitions == negativeBinomial {
		t.Shape = &p.Shape
	}
	return t
}

func tuningSettings(e configs.Experiment, r accountant.Repetitions, n, steps int, noise float64) tuner.Settings {
	candidate := tuner.Candidate{SamplingRate: e.Privacy.SamplingRate, Steps: steps, NoiseMultiplier: noise}
	return tuner.Settings{
		Method:       methods[e.Privacy.Variant],
		SubsetRate:   e.Privacy.SubsetRate,
		Repetitions:  r,
		Space:        tuner.LearningRates(candidate, e.Tuning.LearningRates...),
		ClippingNorm: e.Privacy.ClippingNorm,
		Optimizer:    optimizer(e.Training.Optimizer, 0),
		Samples:      n,
		WarmStart:    e.Tuning.WarmStart,
	}
}

// methodName is how people read a variant.
func methodName(variant string) string {
	if variant == "baseline" {
		return variant
	}
	return "variant " + variant
}

// planTraining is the same for one run without tuning. The settings lack a key.
func planTraining(e configs.Experiment, n int) (train.Settings, report.Privacy, error) {
	p := e.Privacy
	steps, err := stepsOf(p)
	if err != nil {
		return train.Settings{}, report.Privacy{}, err
	}
	privacy, err := spend(p, n, steps, func(noise float64) accountant.Event {
		return trainingPrivacy(e, n, steps, noise).Event()
	})
	if err != nil {
		return train.Settings{}, report.Privacy{}, err
	}
	return train.Settings{
		Privacy:   trainingPrivacy(e, n, steps, privacy.NoiseMultiplier),
		Optimizer: optimizer(e.Training.Optimizer, e.Training.LearningRate),
	}, privacy, nil
}

func trainingPrivacy(e configs.Experiment, n, steps int, noise float64) train.Privacy {
	return train.Privacy{
		SamplingRate:    e.Privacy.SamplingRate,
		NoiseMultiplier: noise,
		ClippingNorm:    e.Privacy.ClippingNorm,
		Steps:           steps,
		NominalSize:     float64(n),
	}
}

func stepsOf(p configs.Privacy) (int, error) {
	steps, err := train.Steps(p.Epochs, p.SamplingRate)
	if err != nil {
		return 0, err
	}
	if steps == 0 {
		return 0, usagef("privacy.epochs: %v epochs at sampling rate %v are less than one step; give more epochs", p.Epochs, p.SamplingRate)
	}
	return steps, nil
}

func optimizer(name string, learningRate float64) train.Optimizer {
	if name == "dp-adam" {
		return train.Adam(learningRate)
	}
	return train.SGD(learningRate)
}

// spend finds the noise multiplier, which is the settings' own or the smallest that their epsilon allows,
// and states what the event then guarantees.
func spend(p configs.Privacy, n, steps int, event func(noise float64) accountant.Event) (report.Privacy, error) {
	options := accountant.Options{Mode: accountant.Mode(p.Accounting)}
	noise, err := noiseFor(p, options, event)
	if err != nil {
		return report.Privacy{}, err
	}
	g, err := accountant.Epsilon(event(noise), p.Delta, options)
	if err != nil {
		return report.Privacy{}, fmt.Errorf("account for the plan: %w", err)
	}
	if math.IsInf(g.Epsilon, 1) {
		return report.Privacy{}, coded(codeBudget, fmt.Errorf("noise multiplier %v has no finite epsilon at delta %v; give more noise", noise, p.Delta))
	}
	return report.Privacy{
		Epsilon:         g.Epsilon,
		Delta:           g.Delta,
		Samples:         n,
		SamplingRate:    p.SamplingRate,
		NoiseMultiplier: noise,
		ClippingNorm:    p.ClippingNorm,
		Steps:           steps,
		Accounting:      string(g.Mode),
		Bound:           g.Bound,
		Order:           g.Order,
	}, nil
}

func noiseFor(p configs.Privacy, options accountant.Options, event func(noise float64) accountant.Event) (float64, error) {
	if p.NoiseMultiplier != nil {
		return *p.NoiseMultiplier, nil
	}
	noise, err := accountant.CalibrateNoise(*p.Epsilon, p.Delta, options, event)
	switch {
	case errors.Is(err, accountant.ErrInfeasible):
		hint := "give a larger epsilon or delta"
		if options.Mode != accountant.Best { // Rényi bounds have a floor, which no noise gets under
			hint += ", or best accounting"
		}
		return 0, coded(codeBudget, fmt.Errorf("epsilon %v at delta %v can't be met by any noise with %s accounting; %s", *p.Epsilon, p.Delta, options.Mode, hint))
	case errors.Is(err, accountant.ErrUnbounded):
		return 0, usagef("epsilon %v is met by any noise, which protects nobody; give a smaller one", *p.Epsilon)
	case err != nil:
		return 0, fmt.Errorf("find the noise for epsilon %v: %w", *p.Epsilon, err)
	}
	return noise, nil
}
