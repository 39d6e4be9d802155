package train

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
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

// Engine returns what an engine is told. It clips to a little less than C by itself: see package engine.
func (m Mechanism) Engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: m.privacy.SamplingRate,
		NoiseMultiplier:     m.privacy.NoiseMultiplier,
		ClippingNorm:        m.privacy.ClippingNorm,
		ExpectedBatchSize:   m.privacy.ExpectedBatchSize(),
	}
}
