package train

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
)

// The mechanism that an engine runs and the event that an accountant charges both come from the same [Privacy] value,
// and only from it, so that they can't drift apart.

// Event returns the privacy event of one run with these settings: Steps compositions of the Gaussian mechanism on a
// Poisson sample. It depends on SamplingRate, NoiseMultiplier and Steps alone. It checks nothing: the functions of
// package accountant refuse an invalid event, and [New] refuses invalid settings.
func (p Privacy) Event() accountant.Event {
	return accountant.DPSGD(p.SamplingRate, p.NoiseMultiplier, p.Steps)
}

// engine returns the mechanism in an engine's form. The engine itself clips to a little less than C: see package
// engine.
func (p Privacy) engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: p.SamplingRate,
		NoiseMultiplier:     p.NoiseMultiplier,
		ClippingNorm:        p.ClippingNorm,
		ExpectedBatchSize:   p.ExpectedBatchSize(),
	}
}
