package train

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
)

// mechanism couples the mechanism that an engine runs with the event that an accountant charges. Both come from the
// same [Privacy] value, and only from it, so that they can't drift apart.
type mechanism struct {
	privacy Privacy
}

// newMechanism returns the mechanism of checked settings; the error is a [*SettingError].
func newMechanism(p Privacy) (mechanism, error) {
	if err := p.Validate(); err != nil {
		return mechanism{}, err
	}
	return mechanism{p}, nil
}

// event returns the event of the whole run: Steps compositions of the Gaussian mechanism on a Poisson sample.
func (m mechanism) event() accountant.Event {
	return accountant.DPSGD(m.privacy.SamplingRate, m.privacy.NoiseMultiplier, m.privacy.Steps)
}

// engine returns the mechanism in an engine's form. The engine itself clips to a little less than C: see package
// engine.
func (m mechanism) engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: m.privacy.SamplingRate,
		NoiseMultiplier:     m.privacy.NoiseMultiplier,
		ClippingNorm:        m.privacy.ClippingNorm,
		ExpectedBatchSize:   m.privacy.ExpectedBatchSize(),
	}
}
