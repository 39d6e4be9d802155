package pld

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A planBound bounds a plan of a tuning run, the best of K trials, and a final run, variant 1 or 2, by the smaller of
// two bounds in each direction. Pairs let every outcome of the final run have its own worst order of scores; a oneOrder
// lets nearly all of them have one order between them.
type Plan struct {
	Pairs             Profile
	removal, addition *oneOrder
}

// Profile bounds delta at any real epsilon in both directions.
type Profile interface {
	DeltaAt(epsilon float64) float64
	Remove(epsilon float64) float64
	Add(epsilon float64) float64
}

// A variant returns the terms of its two directions for a final run and the sampling rate q of the tuning run.
type Variant func(final *Pair, q float64) (removal, addition terms)

// NewPlan bounds a plan by pairs, its bound with orders of their own, and by one order. A trial is dominated by trial, the
// best of K of them by tuned and the final run by final.
func NewPlan(pairs Profile, trial, tuned, final *Pair, k repetitions.Distribution, q float64, v Variant) *Plan {
	removal, addition := v(final, q)
	return &Plan{
		Pairs:    pairs,
		removal:  &oneOrder{removal, tuned.removal, newWholeOrder(trial.removal, k, cellCountShared), k.None()},
		addition: &oneOrder{addition, tuned.addition, newWholeOrder(trial.addition, k, cellCountShared), k.None()},
	}
}

// terms calls add for all m (alpha s1 - beta s0)_+ of a plan at epsilon, by descending loss of the final run, and returns
// what it costs beside them.
type terms func(epsilon float64, add func(m, alpha, beta float64)) (fixed float64)

// DeltaAt evaluates the new bound only where it may lower the result.
func (p *Plan) DeltaAt(epsilon float64) float64 {
	remove, add := p.Pairs.Remove(epsilon), p.Pairs.Add(epsilon)
	if remove > add {
		remove = p.removal.smaller(remove, epsilon)
		if add > remove {
			add = p.addition.smaller(add, epsilon)
		}
	} else {
		add = p.addition.smaller(add, epsilon)
		if remove > add {
			remove = p.removal.smaller(remove, epsilon)
		}
	}
	return math.Max(remove, add)
}

// smaller returns the smaller one of two bounds; the new one may be no number, where it overflows.
func (o *oneOrder) smaller(delta, epsilon float64) float64 {
	if v := o.at(epsilon); v < delta {
		return v
	}
	return delta
}
