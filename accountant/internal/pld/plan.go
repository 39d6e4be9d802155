package pld

import (
	"math"
	"sync"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A Plan bounds a tuning run, the best of K trials, together with a final run, by variant 1 or 2. In each direction it
// takes the smaller of two bounds: in Pairs every outcome of the final run has its own worst order of scores, and in a
// [oneOrder] nearly all outcomes share one.
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

// A Variant, [Variant1] or [Variant2], returns the terms of its two directions for a final run and the sampling rate q
// of the tuning run.
type Variant func(final *Pair, q float64) (removal, addition terms)

// NewPlan returns a plan with a tuning run on a sample of rate q, given its bound by pairs. trial dominates one trial,
// tuned dominates the best of K trials, and final dominates the final run. Trials are cut into cells of at most the
// given number of losses.
func NewPlan(pairs Profile, trial, tuned, final *Pair, k repetitions.Distribution, q float64, v Variant, cells int) *Plan {
	removal, addition := v(final, q)
	one := func(terms terms, tuned, trial *side) *oneOrder {
		order := sync.OnceValue(func() *wholeOrder { return newWholeOrder(trial, k, cells) })
		return &oneOrder{terms, tuned, order, k.None()}
	}
	return &Plan{pairs, one(removal, tuned.removal, trial.removal), one(addition, tuned.addition, trial.addition)}
}

// terms calls add for the terms m (alpha s1 - beta s0)_+ of a plan's divergence at epsilon, by descending loss of the
// final run, and returns the rest of the divergence, which doesn't depend on the order.
type terms func(epsilon float64, add func(m, alpha, beta float64)) (fixed float64)

// DeltaAt bounds delta at any real epsilon. It evaluates a oneOrder, which takes long, only if that may lower the
// result.
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

// smaller returns the smaller of delta and o's bound, which may be NaN where it overflows.
func (o *oneOrder) smaller(delta, epsilon float64) float64 {
	if v := o.at(epsilon); v < delta {
		return v
	}
	return delta
}
