package accountant

import (
	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/internal/renyi"
)

// PoissonSampled runs Event on a random subset that keeps every sample independently with SamplingProbability.
type PoissonSampled struct {
	SamplingProbability float64
	Event               Event
}

func (p PoissonSampled) check(path string) error {
	if err := checkProbability(path, "sampling probability", p.SamplingProbability); err != nil {
		return err
	}
	return checkPart(path+".Event", p.Event)
}

// flattened returns e with a sample of a sample replaced by one sample of the product of the rates, which has the same
// distribution.
func flattened(e PoissonSampled) PoissonSampled {
	for {
		inner, ok := e.Event.(PoissonSampled)
		if !ok {
			return e
		}
		e = PoissonSampled{SamplingProbability: float.ProductUp(e.SamplingProbability, inner.SamplingProbability), Event: inner.Event}
	}
}

// gaussianStep returns the sampling rate and noise multiplier of e if it is a Gaussian mechanism, on a Poisson sample
// or on all data.
func gaussianStep(e Event) (rate, noise float64, ok bool) {
	switch e := e.(type) {
	case Gaussian:
		return 1, e.NoiseMultiplier, true
	case PoissonSampled:
		e = flattened(e)
		if g, ok := e.Event.(Gaussian); ok {
			return e.SamplingProbability, g.NoiseMultiplier, true
		}
	}
	return 0, 0, false
}

func (p PoissonSampled) free() bool { return p.SamplingProbability == 0 || p.Event.free() }

func (p PoissonSampled) run() bool { return p.Event.run() }

func (p PoissonSampled) curve(r *curves) renyi.Curve {
	if rate, noise, ok := gaussianStep(p); ok {
		return r.step(rate, noise)
	}
	p = flattened(p)
	return renyi.Sampled(p.Event.curve(r), p.SamplingProbability, r.tight)
}

func (p PoissonSampled) pair(r *profiler) (*pld.Pair, error) {
	if rate, noise, ok := gaussianStep(p); ok {
		return r.gaussians(rate, noise, 1)
	}
	p = flattened(p)
	d, err := r.pair(p.Event)
	if err != nil {
		return nil, err
	}
	return pld.Sampled(d, p.SamplingProbability)
}

func (p PoissonSampled) variance(d *deviations) float64 {
	rate, noise, ok := gaussianStep(p)
	switch {
	case !ok:
		return d.whole(flattened(p).Event)
	case rate > 0 && noise > 0:
		return pld.SampledGaussianVariance(rate, noise)
	}
	return 0
}

func (p PoissonSampled) theorems() []string {
	if _, _, ok := gaussianStep(p); ok {
		return []string{"Poisson-sampled Gaussian mechanism"}
	}
	return cite("amplification by Poisson sampling", flattened(p).Event)
}
