package pld

import (
	"math"
	"slices"
)

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
