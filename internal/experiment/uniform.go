package experiment

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Uniform is what is to be accounted for where all runs have the same sampling rate and steps, of any number of samples.
type Uniform struct {
	configs.Experiment
	Single bool // one run, without tuning
}

// Events returns what the plan with its given noise does, by the steps of each run.
func (u Uniform) Events() (func(steps int) accountant.Event, error) {
	if u.Single {
		return func(steps int) accountant.Event { return trainingPrivacy(u.Experiment, 0, steps).Event() }, nil
	}
	r, err := repetitionsOf(u.Privacy)
	return func(steps int) accountant.Event { return u.tuning(r, steps).Event() }, err
}

// Settle returns the plan's noise multiplier, given or found, and its guarantee.
func (u Uniform) Settle(steps int) (noise float64, g accountant.Guarantee, err error) {
	if u.Single {
		p, g, err := settle(u.Privacy, trainingPrivacy(u.Experiment, 0, steps), train.Calibrate)
		return p.NoiseMultiplier, g, err
	}
	r, err := repetitionsOf(u.Privacy)
	if err != nil {
		return 0, g, err
	}
	s, g, err := settle(u.Privacy, u.tuning(r, steps), tuner.Calibrate)
	if err != nil {
		return 0, g, err
	}
	return s.Space.(tuner.Grid)[0].NoiseMultiplier, g, nil
}

// Distribution returns how the number of trials is drawn, in words.
func (u Uniform) Distribution() string { return statedTuning(u.Experiment).Distribution() }

func (u Uniform) tuning(r accountant.Repetitions, steps int) tuner.Settings {
	return tuningSettings(u.Experiment, r, 0, oneRun(u.Experiment, steps))
}
