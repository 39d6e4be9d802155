package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// Attained returns a lower bound on any accounting: at delta, some mechanism with the privacy losses of the plan's
// training runs costs this epsilon under some order of the trials' scores. So no accounting can be lower than Attained,
// and a better proof could lower mode Best at most to it.
//
// Attained searches, among the orders that grow an interval of losses, for the one that is worst for the plan as a
// whole, including every outcome of the final run. It then evaluates the divergence under this order. Losses are
// rounded to the grid of mode Best, which raises the result above that of the runs' exact losses by about 1e-5 of
// epsilon at usual settings. It raises both by some per cent if the grid is coarse beside epsilon: by 5 % or more for
// 97 expected trials of 29 steps at sampling rate 2.7e-4 and noise multiplier 1.
//
// Attained takes single training runs, Baseline, Variant1 and Variant2, and a [GroupOf] of a run or of a Baseline; for
// other events the error wraps ErrInvalid.
// Candidates of different costs ([MaxOver]) are treated as a single run that has, at each point, the largest divergence
// of any candidate.
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
	e, exact := spread(e)
	if !exact {
		return 0, errNoOrder
	}
	for step := math.Max(finestStep, gridStep(e)); ; step *= 2 {
		p, err := newProfiler(step).attained(e)
		if errors.Is(err, pld.ErrTooFine) && 2*step < pld.LargestLoss {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("find the worst order: %w", err)
		}
		epsilon, _ = bracket(p.DeltaAt, delta)
		return epsilon, nil
	}
}

var errNoOrder = fmt.Errorf("%w event for a lower bound: not a training run, Baseline, Variant1 or Variant2, nor a group of one of the first two", ErrInvalid)

// attained takes events apart as Baseline, Variant1 and Variant2 put them together, in one place, because it looks at
// several levels of an event at once.
func (r *profiler) attained(e Event) (profile, error) {
	switch e := e.(type) {
	case Gaussian, PoissonSampled, SelfComposed, GroupOf:
		if e.run() {
			d, err := r.pair(e)
			if err != nil {
				return nil, err
			}
			return d.Finite(), nil
		}
	case SelectBest:
		if all, ok := e.composition(); ok && e.Repetitions.Expected() == 1 {
			return r.attained(all)
		}
		return r.worstOrder(e, 1, Composed{}, false)
	case SubsetThenRest:
		if best, ok := e.Tune.(SelectBest); ok {
			return r.worstOrder(best, e.SamplingProbability, e.Base, true)
		}
	case Composed:
		if len(e.Events) == 2 {
			if sampled, ok := e.Events[0].(PoissonSampled); ok {
				if best, ok := sampled.Event.(SelectBest); ok {
					return r.worstOrder(best, sampled.SamplingProbability, e.Events[1], false)
				}
			}
		}
	}
	return nil, errNoOrder
}

// worstOrder returns the worst order for a tuning run on a sample of the data of rate q, before a final run on the rest
// of the data or on all.
func (r *profiler) worstOrder(tune SelectBest, q float64, final Event, onRest bool) (profile, error) {
	if !tune.Event.run() || !final.run() {
		return nil, errNoOrder
	}
	if _, ok := tune.Repetitions.(Fixed); ok {
		return nil, errNoOrder // its bound is of all trials, and the best alone may cost less
	}
	k := tune.Repetitions.law()
	if pld.TooMany(k) {
		return nil, pld.ErrTooWide
	}
	trial, err := r.pair(tune.Event)
	if err != nil {
		return nil, err
	}
	base, err := r.pair(final)
	if err != nil {
		return nil, err
	}
	return pld.NewWorstOrder(trial, base, k, q, onRest), nil
}
