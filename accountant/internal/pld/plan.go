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

// Variant2 returns the terms of a tuning run on a sample of rate q before a final run on all data. With the sample the
// outcomes have the law (q s1 + (1-q) s0) f1, and without it s0 f0, where f1 and f0 are the laws of the final run with
// and without the sample in its data.
func Variant2(final *Pair, q float64) (removal, addition terms) {
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		down := 1 - s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], q, math.Exp(epsilon-s.loss(i))*down-(1-q))
		}
		return s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		error := s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			x := math.Exp(epsilon - s.loss(i))
			add(s.mass[i], 1+error-(1-q)*x, q*x*(1-error))
		}
		return s.inf
	}
	return removal, addition
}

// Variant1 is like [Variant2] for a final run on the rest of the data: with the sample the law is q s1 f0 + (1-q) s0
// f1.
func Variant1(final *Pair, q float64) (removal, addition terms) {
	masses := final.removal.opposite()
	rest := cutToOne(masses)
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		x := math.Exp(epsilon)
		x -= x * s.cancelled(epsilon)
		for i := len(masses) - 1; i >= 0; i-- {
			add(masses[i], q, x-(1-q)*math.Exp(s.loss(i)))
		}
		add(rest, q, x)
		return (1 - q) * s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		x, error := math.Exp(epsilon), s.cancelled(epsilon)
		add(s.inf, 1, q*x*(1-error))
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], 1+error-(1-q)*math.Exp(epsilon-s.loss(i)), q*x*(1-error))
		}
		return 0
	}
	return removal, addition
}
