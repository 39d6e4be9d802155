package accountant

import "math"

// A pair bounds both directions of a mechanism: removal that of the outcome with a sample from the outcome without it,
// addition the reverse. In removal's terms a loss is log p/q, with P the law with the sample; in addition's it is log q/p.
// The two are bounds by themselves.
type pair struct{ removal, addition *side }

// neutral is the pair of a mechanism that ignores its data.
func neutral(step float64) *pair { return &pair{neutralSide(step), neutralSide(step)} }

// remove is the bound on the hockey-stick divergence of P from Q at any real epsilon: the integral of (p - e^epsilon q)_+.
func (d *pair) remove(epsilon float64) float64 { return d.removal.at(epsilon) }

// add is the bound on that of Q from P.
func (d *pair) add(epsilon float64) float64 { return d.addition.at(epsilon) }

func (d *pair) deltaAt(epsilon float64) float64 {
	return math.Max(d.remove(epsilon), d.add(epsilon))
}

// onBoth applies f to each direction of pairs that share a grid.
func onBoth(f func(sides []*side) (*side, error), pairs ...*pair) (*pair, error) {
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
	return &pair{removal, addition}, nil
}

// composed dominates the adaptive composition of what d and e dominate: losses add up.
func composed(d, e *pair) (*pair, error) { return onBoth(composedSides, d, e) }

// composedSides: given the first outcome the second mechanism's divergence is at most R_e(epsilon - l), which as a
// function of e^-l is convex, falls, and ends at e.inf. So its expectation under the first is of the kind that d bounds.
func composedSides(s []*side) (*side, error) {
	d, e := s[0], s[1]
	if len(d.mass)*len(e.mass) > mostWork {
		return nil, errTooFine
	}
	// Losses beyond what a side can hold go to infinity, or to the lowest.
	widest := math.Ceil(largestLoss/d.step) - 1
	low, high := float64(d.low+e.low), float64(d.high()+e.high())
	if high < -widest || low > widest {
		return nil, errTooWide
	}
	b, err := newBuilder(d.step, math.Max(low, -widest), math.Min(high, widest))
	if err != nil {
		return nil, err
	}
	n := len(e.mass)
	upTo := make([]float64, n+1) // sums of e's masses
	for j, v := range e.mass {
		upTo[j+1] = upTo[j] + v
	}
	b.inf = e.inf + d.inf*upTo[n]
	for i, p := range d.mass {
		if p == 0 {
			continue
		}
		// e's masses from the begin-th to the end-th have a place, the first at b.mass[offset+begin].
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
			b.inf += p * v
		}
	}
	return b.side(rounding)
}
