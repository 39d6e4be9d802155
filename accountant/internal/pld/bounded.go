package pld

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/float"
)

// Bounded returns the pair of a mechanism by bounds on its hockey-stick divergences at any epsilon >= 0, each of which
// holds in both directions. It calls bound with ascending epsilons.
func Bounded(g Grid, bound func(epsilon float64) float64) (*Pair, error) {
	// With these falls of a bound's logarithm from one epsilon to the next, chords over e^epsilon are high by 1e-4 of
	// it at most, but where it is far below the delta that is wanted.
	const fall, fallBelow = 0.025, 0.25
	least := g.tail() // the last value is a bound for all larger epsilons
	var values []float64
	for last, stride := -1, 1; ; {
		k := last + stride
		if float64(k)*g.step >= LargestLoss {
			break
		}
		if k >= mostPoints/2 { // the half of a side below 0 has as many
			return nil, ErrTooFine
		}
		for len(values) < k {
			values = append(values, 1) // a chord is lower
		}
		v := math.Min(1, bound(float64(k)*g.step*(1-0x1p-50)))
		values = append(values, v)
		if !(v > least) {
			break
		}
		if v < 1 && last >= 0 {
			wanted := fall
			if v < g.faint() {
				wanted = fallBelow
			}
			slope := float.Log(values[last]/v) / float64(stride)
			stride = int(math.Max(1, math.Min(wanted/math.Max(slope, 1e-9), 2*float64(stride))))
		}
		last = k
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
