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

// A sampledStep is a Gaussian mechanism on a Poisson sample, or on all data at rate 1, for a unit of some rows.
type sampledStep struct {
	rate, noise float64
	rows        int
}

// gaussianStep returns e as a step if it is one.
func gaussianStep(e Event) (sampledStep, bool) {
	switch e := e.(type) {
	case Gaussian:
		return sampledStep{1, e.NoiseMultiplier, 1}, true
	case PoissonSampled:
		e = flattened(e)
		if g, ok := e.Event.(Gaussian); ok {
			return sampledStep{e.SamplingProbability, g.NoiseMultiplier, 1}, true
		}
	case GroupOf:
		if s, ok := gaussianStep(e.Event); ok && s.rows == 1 {
			s.rows = e.Size
			return s, true
		}
	}
	return sampledStep{}, false
}

func (s sampledStep) variance() float64 {
	if s.rate > 0 && s.noise > 0 {
		return pld.RowsVariance(s.rate, s.noise, s.rows)
	}
	return 0
}

func (p PoissonSampled) free() bool { return p.SamplingProbability == 0 || p.Event.free() }

func (p PoissonSampled) curve(r *curves) renyi.Curve {
	if s, ok := gaussianStep(p); ok {
		return r.step(s)
	}
	p = flattened(p)
	return renyi.Sampled(p.Event.curve(r), p.SamplingProbability, r.tight)
}

func (p PoissonSampled) pair(r *profiler) (*pld.Pair, error) {
	if s, ok := gaussianStep(p); ok {
		return r.gaussians(s, 1)
	}
	p = flattened(p)
	d, err := r.pair(p.Event)
	if err != nil {
		return nil, err
	}
	if r.replaced {
		added, err := r.added.pair(p.Event)
		if err != nil {
			return nil, err
		}
		return pld.SampledReplaced(added, d, p.SamplingProbability)
	}
	return pld.Sampled(d, p.SamplingProbability)
}

func (p PoissonSampled) variance(d *deviations) float64 {
	if s, ok := gaussianStep(p); ok {
		return s.variance()
	}
	return d.whole(flattened(p).Event)
}

func (p PoissonSampled) theorems() []string {
	if _, ok := gaussianStep(p); ok {
		return []string{"Poisson-sampled Gaussian mechanism"}
	}
	return cite("amplification by Poisson sampling", flattened(p).Event)
}
