package train

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train/engine"
)

// Mechanism couples what an engine does to the samples with what an accountant charges for it. Both
// come from the same [Privacy] value, and only from it, so that they can't drift apart.
type Mechanism struct {
	privacy Privacy
}

// NewMechanism checks the settings; the error is a [*SettingError].
func NewMechanism(p Privacy) (Mechanism, error) {
	if err := p.Validate(); err != nil {
		return Mechanism{}, err
	}
	return Mechanism{privacy: p}, nil
}

// Privacy returns the settings that the mechanism was made from.
func (m Mechanism) Privacy() Privacy { return m.privacy }

// Event returns what the whole run costs: Steps compositions of the Gaussian mechanism on a Poisson
// sample.
func (m Mechanism) Event() accountant.Event {
	return accountant.DPSGD(m.privacy.SamplingRate, m.privacy.NoiseMultiplier, m.privacy.Steps)
}

// clippingMargin is what engines are told to clip to, over C. Norms, clip factors and sums are rounded to
// floating point, so that adding a sample whose gradient was clipped to C can move the computed sum by
// more than C, in single precision by some parts in a million. Noise for a sensitivity of C would then
// have less than its noise multiplier. That real sensitivities exceed ideal ones, and that libraries
// overlooked it, is shown by Casacuberta, Shoemate, Vadhan and Wagaman, "Widespread Underestimation of
// Sensitivity in Differentially Private Libraries and How to Fix It" (CCS 2022). Clipping to 2^-10 less
// covers the worst case of the engines here (see package cpu) and costs no measurable accuracy.
const clippingMargin = 1 - 1.0/(1<<10)

// Engine returns what an engine is told: clip to a little less than C, and add noise whose standard
// deviation is still σ·C. An engine's noise is a multiple of its own clipping norm, hence the division.
func (m Mechanism) Engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: m.privacy.SamplingRate,
		NoiseMultiplier:     m.privacy.NoiseMultiplier / clippingMargin,
		ClippingNorm:        m.privacy.ClippingNorm * clippingMargin,
		ExpectedBatchSize:   m.privacy.ExpectedBatchSize(),
	}
}
