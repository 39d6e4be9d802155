package pld

import (
	"math"
	"slices"
)

// mostWork bounds the products of two masses in one operation on a pair, to some tenths of a second. A coarser grid
// needs fewer.
const mostWork = 1 << 25

// A Pair bounds both directions of a mechanism: removal bounds the divergence of the outcome with a sample from the
// outcome without it, addition the reverse. With P the law with the sample, a loss is log p/q in removal and log q/p in
// addition. Each side is a bound by itself. A Pair is immutable.
type Pair struct{ removal, addition *side }

// Neutral returns the pair of a mechanism that ignores its data.
func Neutral(g Grid) *Pair { return &Pair{neutralSide(g), neutralSide(g)} }

// Remove bounds the hockey-stick divergence of P from Q at any real epsilon, the integral of (p - e^epsilon q)_+.
func (d *Pair) Remove(epsilon float64) float64 { return d.removal.at(epsilon) }

// Add bounds the divergence of Q from P.
func (d *Pair) Add(epsilon float64) float64 { return d.addition.at(epsilon) }

// DeltaAt bounds the divergences of both directions.
func (d *Pair) DeltaAt(epsilon float64) float64 {
	return math.Max(d.Remove(epsilon), d.Add(epsilon))
}

// Len returns the number of masses of both directions.
func (d *Pair) Len() int { return len(d.removal.mass) + len(d.addition.mass) }

// Products returns the number of products of a mass of d with a mass of e in the same direction.
func Products(d, e *Pair) float64 {
	return float64(len(d.removal.mass))*float64(len(e.removal.mass)) + float64(len(d.addition.mass))*float64(len(e.addition.mass))
}

// onBoth applies f to each direction of pairs that share a grid.
func onBoth(f func(sides []*side) (*side, error), pairs ...*Pair) (*Pair, error) {
	removals, additions := make([]*side, len(pairs)), make([]*side, len(pairs))
	for i, d := range pairs {
		removals[i], additions[i] = d.removal, d.addition
	}
	removal, err := f(removals)
	if err != nil {
		return nil, err
	}
	addition, err := f(additions)
	if err != nil {
		return nil, err
	}
	return &Pair{removal, addition}, nil
}

// Composed returns a pair that dominates the adaptive composition of two mechanisms that d and e dominate. Losses add
// up.
func Composed(d, e *Pair) (*Pair, error) { return onBoth(composedSides, d, e) }

// composedSides composes two sides d and e.
//
// Proof. Given the first outcome, of loss l, the second mechanism's divergence is at most R_e(epsilon - l). As a
// function of e^-l this is convex, falls, and ends at e.inf. So d bounds its expectation under the first mechanism.
func composedSides(s []*side) (*side, error) {
	d, e := s[0], s[1]
	if len(d.mass)*len(e.mass) > mostWork {
		return nil, ErrTooFine
	}
	// Losses too large for a side go to infinity, and losses too small go to the lowest one.
	widest := math.Ceil(LargestLoss/d.step) - 1
	low, high := float64(d.low+e.low), float64(d.high()+e.high())
	if high < -widest || low > widest {
		return nil, ErrTooWide
	}
	b, err := newBuilder(d.Grid, math.Max(low, -widest), math.Min(high, widest))
	if err != nil {
		return nil, err
	}
	n := len(e.mass)
	upTo := make([]float64, n+1) // sums of e's masses
	for j, v := range e.mass {
		upTo[j+1] = upTo[j] + v
	}
	b.terms = len(d.mass) + n
	var inf accurate // of up to as many terms as there are pairs of masses
	inf.add(e.inf)
	inf.add(d.inf * upTo[n])
	for i, p := range d.mass {
		if p == 0 {
			continue
		}
		// e's masses begin to end-1 lie within b, the first at b.mass[offset+begin].
		offset := i + d.low + e.low - b.low
		begin, end := min(n, max(0, -offset)), max(0, min(n, len(b.mass)-offset))
		if begin < end {
			row := b.mass[offset+begin : offset+end]
			for j, v := range e.mass[begin:end] {
				row[j] += p * v
			}
		}
		b.mass[0] += p * upTo[min(begin, end)]
		for _, v := range e.mass[max(begin, end):] {
			inf.add(p * v)
		}
	}
	b.inf = inf.value()
	return b.side()
}

// Bounded returns the pair of a mechanism by bounds on its hockey-stick divergences at any epsilon >= 0, each of which
// holds in both directions. It calls bound with epsilons in any order, and for several at once.
func Bounded(g Grid, bound func(epsilon float64) float64) (*Pair, error) {
	values, _, err := divergences(func(epsilons []float64) []float64 {
		v := make([]float64, len(epsilons))
		calls := make([]func(), len(epsilons))
		for i, epsilon := range epsilons {
			calls[i] = func() { v[i] = math.Min(1, bound(epsilon*(1-0x1p-50))) }
		}
		atOnce(calls...)
		return v
	}, 0, 1, g, chords{2e-4, 0.05})
	if err != nil {
		return nil, err
	}
	return hullPair(g, values, slices.Clone(values))
}

// Minimum returns a pair that dominates every mechanism that each of d and e dominates, on the grid of both.
func Minimum(d, e *Pair) (*Pair, error) {
	side := func(s, t *side) []float64 {
		values := make([]float64, max(0, s.high(), t.high())+1)
		for k := range values {
			epsilon := float64(k) * s.step
			values[k] = math.Min(1, math.Min(s.at(epsilon), t.at(epsilon))*(1+rounding))
		}
		return values
	}
	return hullPair(d.removal.Grid, side(d.removal, e.removal), side(d.addition, e.addition))
}
