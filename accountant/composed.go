package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// SelfComposed runs Event Count times, adaptively.
type SelfComposed struct {
	Event Event
	Count int
}

// Composed runs Events one after another, adaptively, on the same data.
type Composed struct {
	Events []Event
}

func (s SelfComposed) check(path string) error {
	if s.Count < 0 {
		return invalid(path, "count %d is negative", s.Count)
	}
	return checkPart(path+".Event", s.Event)
}

func (c Composed) check(path string) error { return checkParts(path, c.Events) }

func (s SelfComposed) free() bool { return s.Count == 0 || s.Event.free() }
func (c Composed) free() bool     { return every(c.Events, Event.free) }

func (s SelfComposed) curve(r *curves) renyi.Curve { return s.Event.curve(r).Times(s.Count) }

func (c Composed) curve(r *curves) renyi.Curve {
	total := renyi.NewCurve(r.high)
	for _, part := range c.Events {
		total = renyi.Sum(total, part.curve(r))
	}
	return total
}

func (s SelfComposed) pair(r *profiler) (*pld.Pair, error) {
	if s.Count == 0 {
		return pld.Neutral(r.grid), nil
	}
	if inner, ok := s.Event.(SelfComposed); ok && (inner.Count == 0 || s.Count <= math.MaxInt/inner.Count) {
		return r.pair(SelfComposed{Event: inner.Event, Count: s.Count * inner.Count})
	}
	if one, ok := gaussianStep(s.Event); ok {
		return r.gaussians(one, s.Count)
	}
	d, err := r.pair(s.Event)
	if err != nil {
		return nil, err
	}
	d, err = d.Power(s.Count)
	return r.chargeEach(d, err, pld.Transforms)
}

func (c Composed) pair(r *profiler) (*pld.Pair, error) {
	total := pld.Neutral(r.grid)
	for i, part := range c.Events {
		d, err := r.pair(part)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			total = d
			continue
		}
		both, err := pld.Composed(total, d)
		if total, err = r.charge(both, err, total, d); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// profile recognises a tuning followed by other events, which share a bound with one order of scores: variant 2, and
// either variant with later events. c is in normal form.
func (c Composed) profile(r *profiler) (profile, error) {
	d, err := r.pair(c)
	if err != nil {
		return nil, err
	}
	if len(c.Events) < 2 || !isTuning(c.Events[0]) {
		return d, nil
	}
	later, err := r.pair(c.later())
	if err != nil {
		return nil, err
	}
	switch first := c.Events[0].(type) {
	case SelectBest:
		return r.plan(d, first, later, 1, pld.Variant2)
	case PoissonSampled:
		return r.plan(d, first.Event, later, first.SamplingProbability, pld.Variant2)
	case SubsetThenRest:
		base, err := r.pair(first.Base)
		if err != nil {
			return nil, err
		}
		return r.plan(d, first.Tune, base, first.SamplingProbability, pld.Variant1Before(later))
	}
	return d, nil
}

func (s SelfComposed) variance(d *deviations) float64 {
	return float64(s.Count) * s.Event.variance(d)
}

func (c Composed) variance(d *deviations) float64 {
	total := 0.0
	for _, part := range c.Events {
		total += part.variance(d)
	}
	return total
}

func (s SelfComposed) theorems() []string { return s.Event.theorems() }
func (c Composed) theorems() []string     { return cite("", c.Events...) }
