package train

import "github.com/dptrain/dptrain/accountant"

// Event returns what one run with these settings costs. It depends on SamplingRate, NoiseMultiplier and Steps alone, and
// nothing is checked: accountants refuse an event that can't be, [New] refuses settings that can't be used.
func (p Privacy) Event() accountant.Event { return mechanism{p}.event() }

// Guarantee returns what one run with these settings guarantees at delta, in [0, 1]: the smallest epsilon that the
// options' bounds give, +Inf where they give none. It reads what [Privacy.Event] does; the rest may be missing. Its
// errors, which wrap [accountant.ErrInvalid], are those of [accountant.Epsilon].
//
// It covers this run alone. Settings that were chosen by training on the same data cost more: see package tuner.
func (p Privacy) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	return accountant.Epsilon(p.Event(), delta, o)
}

// Calibrate returns p with the smallest noise multiplier, rounded up, whose guarantee at delta is at most epsilon, and
// that guarantee. The noise multiplier in p is ignored; the result's is 0 where a run without noise costs no more than
// epsilon, as one of no steps does. What isn't part of [Privacy.Event] may be missing, and stays as it is.
//
// Its errors are those of [accountant.CalibrateNoise]: one wraps [accountant.ErrInfeasible] where no noise is enough,
// and [accountant.ErrInvalid] where an argument or a setting makes no sense.
//
// The zero accountant.Options are the best bounds, which need the least noise.
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
