package tuner

import "github.com/dptrain/dptrain/accountant"

// Guarantee returns what tuning and final run guarantee together at delta, in [0, 1]: the smallest epsilon that the
// options' bounds give, +Inf where they give none.
//
// It reads what the cost follows from: Method, SubsetRate, Repetitions, and all of the candidates but their learning
// rates. The rest may be missing; [NewPlan] refuses settings that can't be used. The error is a [*train.SettingError]
// for method or subset rate, or one of [accountant.Epsilon], which wraps [accountant.ErrInvalid].
func (s Settings) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return accountant.Guarantee{}, err
	}
	return accountant.Epsilon(s.Event(), delta, o)
}

// Calibrate returns a copy of s with the smallest noise multiplier, rounded up, for which tuning and final run together
// guarantee at most epsilon at delta, and that guarantee. Every candidate gets the same noise multiplier: those in s are
// ignored, and a space whose candidates should differ in it is beyond this function.
//
// Calibrate reads what [Settings.Guarantee] does, and the rest may be missing. The error is a [*train.SettingError] for
// method or subset rate, or one of [accountant.CalibrateNoise]: it wraps [accountant.ErrInfeasible] where no noise is
// enough, as where mode and orders put a floor under epsilon, and [accountant.ErrInvalid] where an argument or a setting
// makes no sense.
//
// Options{} are the paper's bounds; accountant.Options{Mode: accountant.Best} needs less noise.
func Calibrate(s Settings, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event {
		return s.withNoiseMultiplier(noise).Event()
	})
	if err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	s = s.withNoiseMultiplier(noise)
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

func (s Settings) withNoiseMultiplier(noise float64) Settings {
	s.Space = s.Space.WithNoiseMultiplier(noise)
	return s
}
