package train

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
)

// mechanism couples what an engine does to the samples with what an accountant charges for it. Both
// come from the same [Privacy] value, and only from it, so that they can't drift apart.
type mechanism struct {
	privacy Privacy
}

// newMechanism checks the settings; the error is a [*SettingError].
func newMechanism(p Privacy) (mechanism, error) {
	if err := p.Validate(); err != nil {
		return mechanism{}, err
	}
	return mechanism{p}, nil
}

// event returns what the whole run costs: Steps compositions of the Gaussian mechanism on a Poisson
// sample.
func (m mechanism) event() accountant.Event {
	return accountant.DPSGD(m.privacy.SamplingRate, m.privacy.NoiseMultiplier, m.privacy.Steps)
}

// engine returns the mechanism as an engine takes it. It clips to a little less than C by itself: see package engine.
func (m mechanism) engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: m.privacy.SamplingRate,
		NoiseMultiplier:     m.privacy.NoiseMultiplier,
		ClippingNorm:        m.privacy.ClippingNorm,
		ExpectedBatchSize:   m.privacy.ExpectedBatchSize(),
	}
}
