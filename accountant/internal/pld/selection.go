package pld

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/float"
)

// A Selection bounds the best of K runs of a mechanism: given K >= 1 each direction's divergence is at most
// J(e^epsilon) of its [ordering], and K = 0 adds P(K=0) (1 - e^epsilon)_+.
type Selection struct {
	orders [2]*ordering // of removal and of addition
	none   float64      // P(K=0)
	copies float64      // E K, or 1: how often a mass of a run may count
}

// NewSelection bounds the best of K runs of a mechanism that d dominates, by cells of at most the given number of
// losses.
func NewSelection(d *Pair, k repetitions.Distribution, cells int) *Selection {
	s := &Selection{none: k.None(), copies: math.Max(1, math.Exp(k.LogSlope(0)))}
	atOnce(func() {
		s.orders[0] = newOrdering(d.removal, k, cells)
	}, func() {
		s.orders[1] = newOrdering(d.addition, k, cells)
	})
	return s
}

// DeltaAt bounds delta at any real epsilon.
func (s *Selection) DeltaAt(epsilon float64) float64 {
	return math.Max(s.Remove(epsilon), s.Add(epsilon))
}

// Remove bounds the divergence of the outcome with a sample from the outcome without it.
func (s *Selection) Remove(epsilon float64) float64 { return s.at(0, epsilon) }

// Add bounds the divergence of the outcome without a sample from the outcome with it.
func (s *Selection) Add(epsilon float64) float64 { return s.at(1, epsilon) }

// at bounds the divergence of direction 0, removal, or 1, addition.
func (s *Selection) at(direction int, epsilon float64) float64 {
	return s.atAll(direction, []float64{epsilon})[0]
}

// atAll bounds a direction's divergence at several epsilons.
func (s *Selection) atAll(direction int, epsilons []float64) []float64 {
	bounds := make([]float64, len(epsilons))
	for i, epsilon := range epsilons {
		epsilon = math.Min(epsilon, LargestLoss) // no divergence grows
		bounds[i] = math.Exp(epsilon) * (1 - rounding)
	}
	var calls []func()
	for some := range slices.Chunk(bounds, lanes) {
		calls = append(calls, func() { s.orders[direction].worst(some) })
	}
	atOnce(calls...)
	for i, epsilon := range epsilons {
		bounds[i] = math.Min(1, (bounds[i]+s.none*math.Max(0, -math.Expm1(epsilon)))*(1+rounding)+0x1p-1000)
	}
	return bounds
}

// Work estimates the work of Pair, in states of the recursions.
func (s *Selection) Work(g Grid) float64 {
	m, n := float64(len(s.orders[0].rows)), float64(len(s.orders[1].rows))
	return (m*m + n*n) / 2 * (-g.logTail - float.Log(s.copies)) / 0.25
}

// Pair returns the bounds as a pair on a grid, and the number of evaluations that it took. It evaluates both directions
// at once.
func (s *Selection) Pair(g Grid) (d *Pair, evaluations int, err error) {
	var values [2][]float64
	var counts [2]int
	var errs [2]error
	evaluate := func(direction int) {
		at := func(epsilons []float64) []float64 { return s.atAll(direction, epsilons) }
		values[direction], counts[direction], errs[direction] = divergences(at, s.orders[direction].top, s.copies, g, selectionChords)
	}
	atOnce(func() { evaluate(0) }, func() { evaluate(1) })
	evaluations = counts[0] + counts[1]
	for _, err := range errs {
		if err != nil {
			return nil, evaluations, err
		}
	}
	d, err = hullPair(g, values[0], values[1])
	return d, evaluations, err
}

// divergences returns a direction's bounds at epsilon = 0 and the further points of g. Some of them are the trivial 1:
// between the others, chords over x = e^epsilon are bounds (hullSide). It evaluates several at once.
//
// The points are chosen by how high a chord may be. Divergences are convex in x, so between two points they are at
// least the extended chords of the two neighbouring pairs of points, and 1 at x = 0. Bounds need not be convex. Where
// three chords show that they aren't, it is only known that they don't grow between two points.
func divergences(at func(epsilons []float64) []float64, top, copies float64, g Grid, most chords) (values []float64, evaluations int, err error) {
	const together = 4                                                   // epsilons
	least, faint := top*(1+4*rounding)+g.tail()*copies, g.faint()*copies // no smaller values are of use, and of little
	var points []int                                                     // evaluated, by ascending epsilon
	evaluate := func(more []int) {
		epsilons := make([]float64, len(more))
		for i, k := range more {
			epsilons[i] = float64(k) * g.step
		}
		evaluations += len(more)
		for i, v := range at(epsilons) {
			for len(values) <= more[i] {
				values = append(values, 1)
			}
			values[more[i]] = v
		}
		points = append(points, more...)
		slices.Sort(points)
	}
	// Go outwards, until the bound is negligible.
	for next, more := 1, []int{0}; ; more = nil {
		for ; len(more) < together && float64(next)*g.step < LargestLoss && next < 2*mostPoints; next *= 2 {
			more = append(more, next)
		}
		if len(more) == 0 {
			if float64(next)*g.step < LargestLoss {
				return nil, evaluations, ErrTooFine
			}
			break // the last value is a bound for all larger epsilons
		}
		evaluate(more)
		last, before := points[len(points)-1], points[len(points)-2]
		v := values[last]
		if v <= least || v < faint && float.Log(values[before]/v) < 1e-3*float64(last-before)*g.step {
			break // deep cells may keep a bound from falling
		}
	}
	// Go back to about where that begins: a side shouldn't be longer than necessary.
	for n := len(points); values[points[n-1]] <= least && n > 1; n = len(points) {
		a, b := points[n-2], points[n-1]
		if values[a] <= least {
			points, values = points[:n-1], values[:a+1]
		} else if b-a > a/8+1 {
			evaluate([]int{(a + b) / 2})
		} else {
			break
		}
	}
	// Add points between.
	for {
		var more []int
		for i, k := range points[:len(points)-1] {
			high := most.high
			if values[k] < faint {
				high = most.faint
			}
			if points[i+1] > k+1 && values[k] > least && excess(points, values, i, g.step, least) > high {
				more = append(more, (k+points[i+1])/2)
			}
		}
		if more == nil {
			return values, evaluations, nil
		}
		evaluate(more)
	}
}

// chords are the relative excess that a chord of divergences may have: high in general, faint far below the wanted
// delta.
type chords struct{ high, faint float64 }

var selectionChords = chords{0.06, 0.5}

// excess bounds how far the chord from the i-th point to the next is above the divergence, relative to it or to least.
func excess(points []int, values []float64, i int, step, least float64) float64 {
	a, b := points[i], points[i+1]
	// x is the distance of e^epsilon at k from e^epsilon at a, in units of the latter.
	x := func(k int) float64 { return math.Expm1(float64(k-a) * step) }
	// The slopes of the chords before and after.
	before := values[a] - 1
	if i > 0 {
		p := points[i-1]
		before = (values[a] - values[p]) / -x(p)
	}
	after := 0.0
	if i+2 < len(points) {
		n := points[i+2]
		after = math.Min(0, (values[n]-values[b])/(x(n)-x(b)))
	}
	if !(before < after) {
		if before-after > 1e-6*math.Abs(after) { // not convex
			return values[a]/math.Max(values[b], least) - 1
		}
		return 0
	}
	wide := x(b)
	// Where the extended chords meet.
	lowest := math.Max(0, math.Min((values[b]-values[a]-after*wide)/(before-after), wide))
	chord := values[a] + (values[b]-values[a])*(lowest/wide)
	return chord/math.Max(values[a]+before*lowest, least) - 1
}
