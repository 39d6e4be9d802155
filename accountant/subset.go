package accountant

import (
	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// SubsetThenRest keeps every sample for X1 independently with SamplingProbability, runs Tune on X1 and then Base, which
// may depend on Tune's outcome, on the samples that are not in X1: variant 1, Theorem [strategy1_rdp1].
type SubsetThenRest struct {
	SamplingProbability float64
	Tune, Base          Event
}

func (s SubsetThenRest) check(path string) error {
	if err := checkProbability(path, "sampling probability", s.SamplingProbability); err != nil {
		return err
	}
	if err := checkPart(path+".Tune", s.Tune); err != nil {
		return err
	}
	return checkPart(path+".Base", s.Base)
}

func (s SubsetThenRest) free() bool {
	return (s.SamplingProbability == 0 || s.Tune.free()) && (s.SamplingProbability == 1 || s.Base.free())
}

func (s SubsetThenRest) curve(r *curves) renyi.Curve {
	return renyi.Subset(s.Tune.curve(r), s.Base.curve(r), s.SamplingProbability, r.tight)
}

// only returns the part that gets all samples, or nil if both get some.
func (s SubsetThenRest) only() Event {
	switch s.SamplingProbability {
	case 0:
		return s.Base
	case 1:
		return s.Tune
	}
	return nil
}

func (s SubsetThenRest) pair(r *profiler) (*pld.Pair, error) {
	if e := s.only(); e != nil {
		return r.pair(e)
	}
	both, err := s.pairs(r)
	if err != nil {
		return nil, err
	}
	if r.replaced {
		added, err := s.pairs(r.added)
		if err != nil {
			return nil, err
		}
		return added.Replaced(both.Tune, both.Base)
	}
	d, err := both.Pair()
	return r.charge(d, err, d, both.Tune)
}

// profile recognises variant 1, whose trials and final run share a bound with one order of scores.
func (s SubsetThenRest) profile(r *profiler) (profile, error) {
	if e := s.only(); e != nil {
		return r.profile(e)
	}
	if r.replaced {
		return r.pair(s)
	}
	both, err := s.pairs(r)
	if err != nil {
		return nil, err
	}
	return r.plan(both, s.Tune, both.Base, both.Rate, pld.Variant1)
}

func (s SubsetThenRest) pairs(r *profiler) (pld.Subset, error) {
	tune, err := r.pair(s.Tune)
	if err != nil {
		return pld.Subset{}, err
	}
	base, err := r.pair(s.Base)
	return pld.Subset{Tune: tune, Base: base, Rate: s.SamplingProbability}, err
}

func (s SubsetThenRest) variance(d *deviations) float64 { return d.largest(s.Tune, s.Base) }

func (s SubsetThenRest) theorems() []string { return cite("variant 1", s.Tune, s.Base) }
