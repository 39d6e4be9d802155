package train

import "github.com/dptrain/dptrain/accountant"

// Guarantee returns the guarantee of one run with these settings at delta, in [0, 1]. Its epsilon is the smallest that
// the bounds of o give, or +Inf if they give none. Guarantee reads only the fields that [Privacy.Event] reads; the
// others may be zero. It returns the errors of [accountant.Epsilon], which wrap [accountant.ErrInvalid].
//
// The guarantee covers this run alone. Settings that were chosen by training on the same data cost more: see package
// tuner.
func (p Privacy) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	return accountant.Epsilon(p.Event(), delta, o)
}

// Calibrate returns p with the smallest noise multiplier, rounded up, whose guarantee at delta is at most epsilon, and
// that guarantee. It ignores the noise multiplier of p. The result has 0 if a run without noise costs no more than
// epsilon, such as a run of no steps. Calibrate reads only the fields that [Privacy.Event] reads, and copies the
// others.
//
// It returns the errors of [accountant.CalibrateNoise], which wrap [accountant.ErrInfeasible] if no noise is enough,
// and [accountant.ErrInvalid] if an argument or a setting is invalid.
func Calibrate(p Privacy, epsilon, delta float64, o accountant.Options) (Privacy, accountant.Guarantee, error) {
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event {
		return p.withNoiseMultiplier(noise).Event()
	})
	if err != nil {
		return Privacy{}, accountant.Guarantee{}, err
	}
	p = p.withNoiseMultiplier(noise)
	g, err := p.Guarantee(delta, o)
	return p, g, err
}

func (p Privacy) withNoiseMultiplier(noise float64) Privacy {
	p.NoiseMultiplier = noise
	return p
}
