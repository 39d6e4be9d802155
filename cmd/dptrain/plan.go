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
	space, err := spaceOf(e, n)
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	r, err := repetitionsOf(e.Privacy)
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	settings := tuningSettings(e, r, n, space)
	if limit := e.Tuning.LargestFinalRate; limit > 0 {
		if settings, err = settings.WithinFinalRate(limit); err != nil {
			return tuner.Settings{}, report.Privacy{}, err
		}
	}
	calibrate := tuner.Calibrate
	if e.Privacy.Fixed == configs.FixedNoise {
		calibrate = tuner.CalibrateSteps
	}
	settings, guarantee, err := settle(e.Privacy, settings, calibrate)
	if err != nil {
		return tuner.Settings{}, report.Privacy{}, err
	}
	privacy := stated(e.Privacy, n, guarantee)
	privacy.Tuning = statedTuning(e)
	privacy.Tuning.Space = statedSpace(e, settings)
	return settings, inCommon(privacy, settings.Space), settings.Validate()
}

// statedTuning is what the statement says about the search, but for its space.
func statedTuning(e configs.Experiment) *report.Tuning {
	p := e.Privacy
	t := &report.Tuning{
		Method:          methodName(p.Variant),
		Repetitions:     p.Repetitions,
		MeanRepetitions: p.MeanRepetitions,
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

func tuningSettings(e configs.Experiment, r accountant.Repetitions, n int, space tuner.Space) tuner.Settings {
	return tuner.Settings{
		Method:      methods[e.Privacy.Variant],
		SubsetRate:  e.Privacy.SubsetRate,
		Repetitions: r,
		Space:       space,
		Optimizer:   optimizer(e.Training.Optimizer, 0),
		Samples:     n,
		WarmStart:   e.Tuning.WarmStart,
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
	steps, calibrate := 0, calibrateSteps
	if e.Privacy.Fixed == configs.FixedEpochs {
		var err error
		if steps, err = stepsOf(e.Privacy); err != nil {
			return train.Settings{}, report.Privacy{}, err
		}
		calibrate = train.Calibrate
	}
	privacy, guarantee, err := settle(e.Privacy, trainingPrivacy(e, n, steps), calibrate)
	if err != nil {
		return train.Settings{}, report.Privacy{}, err
	}
	settings := train.Settings{Privacy: privacy, Optimizer: optimizer(e.Training.Optimizer, e.Training.LearningRate)}
	return settings, stated(e.Privacy, n, guarantee).Of(hyperparameters(privacy, settings.Optimizer)), nil
}

// calibrateSteps gives a run the most steps that its noise allows.
func calibrateSteps(p train.Privacy, epsilon, delta float64, o accountant.Options) (train.Privacy, accountant.Guarantee, error) {
	steps, err := accountant.CalibrateSteps(epsilon, delta, o, func(steps int) accountant.Event {
		p.Steps = steps
		return p.Event()
	})
	if err == nil && steps == 0 {
		err = fmt.Errorf("not one step: %w", accountant.ErrInfeasible)
	}
	if err != nil {
		return p, accountant.Guarantee{}, err
	}
	p.Steps = steps
	g, err := p.Guarantee(delta, o)
	return p, g, err
}

// trainingPrivacy has the noise that is given, or none yet.
func trainingPrivacy(e configs.Experiment, n, steps int) train.Privacy {
	p := train.Privacy{
		SamplingRate: e.Privacy.SamplingRate,
		ClippingNorm: e.Privacy.ClippingNorm,
		Steps:        steps,
		NominalSize:  float64(n),
	}
	if noise := e.Privacy.NoiseMultiplier; noise != nil {
		p.NoiseMultiplier = *noise
	}
	return p
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

// guaranteed is a plan that says what it guarantees: tuner.Settings or, for one run, train.Privacy.
type guaranteed interface {
	Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error)
}

// settle gives a plan with an epsilon the least noise, or the most steps, that meets it, leaves one with noise alone as it
// is, and says what it then guarantees. calibrate is the plan's own.
func settle[P guaranteed](p configs.Privacy, plan P, calibrate func(P, float64, float64, accountant.Options) (P, accountant.Guarantee, error)) (P, accountant.Guarantee, error) {
	if p.Epsilon == nil {
		g, err := guaranteeOf(p, plan)
		return plan, g, err
	}
	plan, g, err := calibrate(plan, *p.Epsilon, p.Delta, accountingOf(p))
	if err != nil {
		err = explained(p, err)
	}
	return plan, g, err
}

// guaranteeOf refuses a plan whose noise, which is given, has no finite epsilon.
func guaranteeOf(p configs.Privacy, plan guaranteed) (accountant.Guarantee, error) {
	g, err := plan.Guarantee(p.Delta, accountingOf(p))
	if err != nil {
		return g, fmt.Errorf("account for the plan: %w", err)
	}
	if math.IsInf(g.Epsilon, 1) {
		return g, coded(codeBudget, fmt.Errorf("noise multiplier %v has no finite epsilon at delta %v; give more noise", *p.NoiseMultiplier, p.Delta))
	}
	return g, nil
}

// explained says what can be done where no noise, or no steps, could be found.
func explained(p configs.Privacy, err error) error {
	switch {
	case p.Fixed == configs.FixedNoise && errors.Is(err, accountant.ErrInfeasible):
		return coded(codeBudget, fmt.Errorf("epsilon %v at delta %v doesn't allow one step of each kind of run with noise multiplier %v; give more noise or a larger epsilon", *p.Epsilon, p.Delta, *p.NoiseMultiplier))
	case p.Fixed == configs.FixedNoise && errors.Is(err, accountant.ErrUnbounded):
		return usagef("epsilon %v allows any number of steps with noise multiplier %v", *p.Epsilon, *p.NoiseMultiplier)
	case errors.Is(err, accountant.ErrInfeasible):
		hint := "give a larger epsilon or delta"
		if p.Accounting != string(accountant.Best) { // Rényi bounds have a floor, which no noise gets under
			hint += ", or best accounting"
		}
		return coded(codeBudget, fmt.Errorf("epsilon %v at delta %v can't be met by any noise with %s accounting; %s", *p.Epsilon, p.Delta, p.Accounting, hint))
	case errors.Is(err, accountant.ErrUnbounded):
		return usagef("epsilon %v is met by any noise, which protects nobody; give a smaller one", *p.Epsilon)
	}
	return fmt.Errorf("find the noise for epsilon %v: %w", *p.Epsilon, err)
}

func accountingOf(p configs.Privacy) accountant.Options {
	return accountant.Options{Mode: accountant.Mode(p.Accounting)}
}

// stated is what the statement says about a plan and its guarantee, but for the search and the runs.
func stated(p configs.Privacy, n int, g accountant.Guarantee) report.Privacy {
	return report.Privacy{
		Epsilon:    g.Epsilon,
		Delta:      g.Delta,
		Samples:    n,
		Accounting: string(g.Mode),
		Bound:      g.Bound,
		Order:      g.Order,
	}
}
