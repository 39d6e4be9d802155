package accountant

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// Attained returns a lower bound on any accounting: at delta, a concrete mechanism with the plan's training runs costs
// at least this epsilon. So no correct accounting is below Attained, and no better proof could lower mode Best below
// it. In each of the mechanism's steps all gradients but one cancel, and the trials' scores have a worst order.
//
// Attained searches, among the orders that grow an interval, for the one that is worst for the plan as a whole,
// including every outcome of the final run. It then evaluates the divergence under this order. Outcomes are merged, and
// losses lowered, so that the result isn't above the mechanism's own cost, in floating point too: for a single run it
// is below by some 1e-5 of it, at usual settings.
//
// Attained takes training runs, Baseline, Variant1 and Variant2, a Baseline or a Variant2 with later runs, and a
// [GroupOf] of a run or of a Baseline; for other events the error wraps ErrInvalid. Runs may be composed of several
// events and drawn at random ([OneOf]). For a [MaxOver] the mechanism always runs the event that costs most by itself.
// If the number of trials can exceed the range of floats, as for a negative binomial of shape -0.99 and mean 1000,
// Attained returns the error "privacy losses too large", which doesn't wrap ErrInvalid.
func Attained(e Event, delta float64) (epsilon float64, err error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if err := Validate(e); err != nil {
		return 0, err
	}
	if e.free() {
		return 0, nil
	}
	if delta == 0 {
		return math.Inf(1), nil
	}
	spreadOut, exact := spread(normal(e))
	if holds(e, chargesAll) || !exact {
		return 0, errNoOrder
	}
	ready := normal(spreadOut)
	p, err := attaining{delta, gridTail(ready, delta), map[string]lowerOrError{}}.profile(ready)
	if err != nil {
		return 0, fmt.Errorf("find the worst order: %w", err)
	}
	epsilon, _ = bracket(p.DeltaAt, delta)
	return epsilon, nil
}

var errNoOrder = fmt.Errorf("%w event for a lower bound: not a training run, Baseline, Variant1 or Variant2, a Baseline or Variant2 with later runs, nor a group of one of the first two", ErrInvalid)

// chargesAll reports whether an event is a selection that is charged for all of its several trials: then the best alone
// may cost less.
func chargesAll(e Event) bool {
	s, ok := e.(SelectBest)
	if !ok {
		return false
	}
	all, ok := s.composition()
	return ok && identity(normal(all)) != identity(normal(s.Event))
}

// An attaining finds lower bounds. It uses delta to choose among candidates.
type attaining struct {
	delta float64
	tail  float64                 // of the grids
	known map[string]lowerOrError // by event
}

type lowerOrError struct {
	lower *pld.Lower
	err   error
}

// isRun reports whether an event in normal form is a training run, or a choice among several.
func isRun(e Event) bool {
	return !holds(e, func(part Event) bool {
		switch part.(type) {
		case Gaussian, PoissonSampled, SelfComposed, Composed, MaxOver, OneOf, GroupOf:
			return false
		}
		return true
	})
}

// profile takes events in normal form apart, as Baseline, Variant1 and Variant2 compose them. It is one function,
// because it looks at several levels of an event at once.
func (a attaining) profile(e Event) (profile, error) {
	if isRun(e) {
		return a.lower(e)
	}
	switch e := e.(type) {
	case SelectBest:
		return a.worstOrder(e, 1, Composed{}, false)
	case SubsetThenRest:
		best, ok := e.Tune.(SelectBest)
		if !ok { // one run, which the normal form has in place of the best of one
			best = SelectBest{Event: e.Tune, Repetitions: TruncatedNegativeBinomial{Shape: 1, Success: 1}}
		}
		return a.worstOrder(best, e.SamplingProbability, e.Base, true)
	case Composed:
		switch first := e.Events[0].(type) {
		case SelectBest:
			return a.worstOrder(first, 1, e.later(), false)
		case PoissonSampled:
			if best, ok := first.Event.(SelectBest); ok {
				return a.worstOrder(best, first.SamplingProbability, e.later(), false)
			}
		}
	}
	return nil, errNoOrder
}

// worstOrder returns the worst order for a tuning run on a sample of the data of rate q, before a final run on the rest
// of the data or on all.
func (a attaining) worstOrder(tune SelectBest, q float64, final Event, onRest bool) (profile, error) {
	if !isRun(tune.Event) || !isRun(final) {
		return nil, errNoOrder
	}
	k := tune.Repetitions.law()
	if pld.TooMany(k) {
		return nil, pld.ErrTooWide
	}
	trial, err := a.lower(tune.Event)
	if err != nil {
		return nil, err
	}
	base, err := a.lower(final)
	if err != nil {
		return nil, err
	}
	return pld.NewWorstOrder(trial, base, k, q, onRest), nil
}

// lower returns lower bounds of a training run. It computes each once.
func (a attaining) lower(e Event) (*pld.Lower, error) {
	key := fmt.Sprintf("%#v", e)
	known, ok := a.known[key]
	if !ok {
		known.lower, known.err = a.lowerOf(e)
		a.known[key] = known
	}
	return known.lower, known.err
}

func (a attaining) lowerOf(e Event) (*pld.Lower, error) {
	if e.free() {
		return pld.LowerNeutral(), nil
	}
	if s, ok := gaussianStep(e); ok {
		return a.steps(s, 1)
	}
	switch e := e.(type) {
	case SelfComposed:
		count := e.Count
		inner := e.Event
		for {
			next, ok := inner.(SelfComposed)
			if !ok || count > math.MaxInt/max(1, next.Count) {
				break
			}
			inner, count = next.Event, count*next.Count
		}
		if s, ok := gaussianStep(inner); ok {
			return a.steps(s, count)
		}
		d, err := a.lower(inner)
		if err != nil {
			return nil, err
		}
		return d.Times(count)
	case Composed:
		total := pld.LowerNeutral()
		for i, part := range e.Events {
			d, err := a.lower(part)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				total = d
			} else if total, err = pld.LowerComposed(total, d); err != nil {
				return nil, err
			}
		}
		return total, nil
	case PoissonSampled:
		e = flattened(e)
		d, err := a.lower(e.Event)
		if err != nil {
			return nil, err
		}
		return pld.LowerSampled(d, e.SamplingProbability*(1-0x1p-50))
	case MaxOver:
		var costliest *pld.Lower
		most := math.Inf(-1)
		for _, part := range e.Events {
			d, err := a.lower(part)
			if err != nil {
				return nil, err
			}
			if epsilon, _ := bracket(d.DeltaAt, a.delta); epsilon > most {
				costliest, most = d, epsilon
			}
		}
		return costliest, nil
	case OneOf:
		events, probabilities := e.drawn()
		all, err := each(events, a.lower)
		if err != nil {
			return nil, err
		}
		for i := range probabilities {
			if probabilities[i] *= 1 - 0x1p-40; probabilities[i] <= leastProbability {
				probabilities[i] = 0 // it may have been raised
			}
		}
		return pld.LowerUnion(probabilities, all)
	}
	return nil, errNoOrder
}

// steps returns lower bounds of count equal steps. The rate may have been rounded up.
func (a attaining) steps(s sampledStep, count int) (*pld.Lower, error) {
	if s.rate < 1 {
		s.rate *= 1 - 0x1p-50
	}
	return pld.LowerRows(a.tail, s.rate, s.noise, s.rows, count)
}
