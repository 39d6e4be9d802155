package pld

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/float"
)

// A Selection bounds the best of K runs of a mechanism: given K >= 1 each direction's divergence is at most
// J(e^epsilon) of its [ordering], and K = 0 adds P(K=0) (1 - e^epsilon)_+. It isn't safe for concurrent use.
type Selection struct {
	removal, addition *ordering
	none              float64      // P(K=0)
	space             [2][]float64 // of each direction
}

// NewSelection bounds the best of K runs of a mechanism that d dominates, by cells of at most the given number of
// losses.
func NewSelection(d *Pair, k repetitions.Distribution, cells int) *Selection {
	s := &Selection{none: k.None()}
	atOnce(func() {
		s.removal = newOrdering(d.removal, k, cells)
		s.space[0] = make([]float64, len(s.removal.rows)+1)
	}, func() {
		s.addition = newOrdering(d.addition, k, cells)
		s.space[1] = make([]float64, len(s.addition.rows)+1)
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

// at bounds the divergence of direction 0, removal, or 1, addition. Both directions may be evaluated at once.
func (s *Selection) at(direction int, epsilon float64) float64 {
	o, space := s.direction(direction), s.space[direction]
	epsilon = math.Min(epsilon, LargestLoss) // no divergence grows
	c := math.Exp(epsilon) * (1 - rounding)
	return math.Min(1, (o.worst(c, space)+s.none*math.Max(0, -math.Expm1(epsilon)))*(1+rounding)+0x1p-1000)
}

func (s *Selection) direction(i int) *ordering {
	if i == 0 {
		return s.removal
	}
	return s.addition
}

// States returns the number of states of both recursions, the work of one evaluation.
func (s *Selection) States() float64 {
	m, n := float64(len(s.removal.rows)), float64(len(s.addition.rows))
	return (m*m + n*n) / 2
}

// Pair returns the bounds as a pair on a grid of the given step, and the number of evaluations that it took.
func (s *Selection) Pair(step float64) (d *Pair, evaluations int, err error) {
	return pairOf(s, s.removal.top, s.addition.top, step)
}

// pairOf returns a profile's bounds as a pair on a grid of the given step, and the number of evaluations that it took.
// topRemove and topAdd are what the two directions' divergences fall to. It evaluates both directions at once.
func pairOf(p Profile, topRemove, topAdd, step float64) (d *Pair, evaluations int, err error) {
	var values [2][]float64
	var counts [2]int
	var errs [2]error
	atOnce(func() {
		values[0], counts[0], errs[0] = divergences(p.Remove, topRemove, step)
	}, func() {
		values[1], counts[1], errs[1] = divergences(p.Add, topAdd, step)
	})
	evaluations = counts[0] + counts[1]
	for _, err := range errs {
		if err != nil {
			return nil, evaluations, err
		}
	}
	d, err = hullPair(step, values[0], values[1])
	return d, evaluations, err
}

// divergences returns a direction's bounds at epsilon = 0, step, 2 step, ..., some of which are the trivial 1: between
// the others, chords over e^epsilon are bounds (hullSide). The others are so close that a divergence falls by little
// from one to the next.
func divergences(at func(epsilon float64) float64, top, step float64) (values []float64, evaluations int, err error) {
	// With these falls of a divergence's logarithm chords are high by some per cent of it at most, but where the
	// divergence is below any usual delta.
	const usual, fall, fallBelow = 1e-14, 0.25, 1
	const unknown = -1
	value := func(k int) float64 {
		for len(values) <= k {
			values = append(values, unknown)
		}
		if values[k] == unknown {
			values[k] = at(float64(k) * step)
			evaluations++
		}
		return values[k]
	}
	most := func(v float64) float64 {
		if v < usual {
			return fallBelow
		}
		return fall
	}
	var refine func(i, j int)
	refine = func(i, j int) {
		if j > i+1 && float.Log(value(i)/value(j)) > 1.5*most(value(i)) {
			mid := (i + j) / 2
			refine(i, mid)
			refine(mid, j)
		}
	}
	least := top*(1+4*rounding) + math.Exp(logTail) // no smaller values are of use
	for last, stride := 0, 1; value(last) > least; {
		next := last + stride
		if float64(next)*step >= LargestLoss {
			break // the last value is a bound for all larger epsilons
		}
		if next >= 2*mostPoints {
			return nil, evaluations, ErrTooFine
		}
		refine(last, next)
		slope := float.Log(value(last)/value(next)) / float64(stride)
		if value(next) < usual && slope < 1e-3*step {
			break // deep cells keep the bound from falling
		}
		wanted := most(value(next)) / math.Max(slope, 1e-9)
		last, stride = next, int(math.Max(1, math.Min(wanted, 2*float64(stride))))
	}
	for k, v := range values {
		if v == unknown {
			values[k] = 1
		}
	}
	return values, evaluations, nil
}
