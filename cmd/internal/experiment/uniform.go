package experiment

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// Uniform computes the privacy cost of an experiment whose runs all have the same sampling rate and steps. The cost
// doesn't depend on the number of samples.
type Uniform struct {
	settings.Experiment
	Single bool // account for one run, without tuning
	Rows   int  // of one unit, together; 0 and 1 mean that a sample is the unit

	Neighbours accountant.Neighbours
}

// Options returns the accounting of the settings, for the neighbours.
func (u Uniform) Options() accountant.Options {
	o := Accounting(u.Privacy)
	o.Neighbours = u.Neighbours
	return o
}

// Events returns a function that returns the event of the experiment for a number of steps of each run. The settings
// must give the noise.
func (u Uniform) Events() (func(steps int) accountant.Event, error) {
	if u.Single {
		return func(steps int) accountant.Event { return u.single(steps).event() }, nil
	}
	r, err := repetitionsOf(u.Privacy)
	return func(steps int) accountant.Event { return u.tuning(r, steps).Event() }, err
}

// Settle returns the noise multiplier, given or calibrated, and the guarantee.
func (u Uniform) Settle(steps int) (noise float64, g accountant.Guarantee, err error) {
	if u.Single {
		p, g, err := settle(u.Privacy, u.Options(), u.single(steps), unitRun.calibrate)
		return p.NoiseMultiplier, g, err
	}
	r, err := repetitionsOf(u.Privacy)
	if err != nil {
		return 0, g, err
	}
	s, g, err := settle(u.Privacy, u.Options(), u.tuning(r, steps), tuner.Calibrate)
	if err != nil {
		return 0, g, err
	}
	return s.Space.(tuner.Grid)[0].NoiseMultiplier, g, nil
}

// Distribution returns the distribution of the number of trials, as part of a sentence.
func (u Uniform) Distribution() string { return statedTuning(u.Experiment).Distribution() }

func (u Uniform) tuning(r accountant.Repetitions, steps int) tuner.Settings {
	s := tuningSettings(u.Experiment, r, 0, oneRun(u.Experiment, steps))
	s.RowsPerUnit = u.Rows
	return s
}

func (u Uniform) single(steps int) unitRun {
	return unitRun{trainingPrivacy(u.Experiment, 0, steps), u.Rows}
}
