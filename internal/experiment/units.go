package experiment

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// A unitRun is a single training run whose unit of privacy has up to rows samples; 0 and 1 mean one sample.
type unitRun struct {
	train.Privacy
	rows int
}

func (u unitRun) event() accountant.Event {
	if u.rows > 1 {
		return accountant.GroupOf{Event: u.Privacy.Event(), Size: u.rows}
	}
	return u.Privacy.Event()
}

// Guarantee returns the run's guarantee for a unit.
func (u unitRun) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	return accountant.Epsilon(u.event(), delta, o)
}

// calibrate returns u with the smallest noise multiplier that meets epsilon for a unit.
func (u unitRun) calibrate(epsilon, delta float64, o accountant.Options) (unitRun, accountant.Guarantee, error) {
	if u.rows <= 1 {
		p, g, err := train.Calibrate(u.Privacy, epsilon, delta, o)
		u.Privacy = p
		return u, g, err
	}
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event {
		u.NoiseMultiplier = noise
		return u.event()
	})
	if err != nil {
		return unitRun{}, accountant.Guarantee{}, err
	}
	u.NoiseMultiplier = noise
	g, err := u.Guarantee(delta, o)
	return u, g, err
}
