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
	low := float64(d.low) + float64(e.low)
	b, err := newBuilder(d.step, low, low+float64(len(d.mass)+len(e.mass)-2))
	if err != nil {
		return nil, err
	}
	finite := 0.0
	for _, v := range e.mass {
		finite += v
	}
	for i, p := range d.mass {
		if p == 0 {
			continue
		}
		row := b.mass[i : i+len(e.mass)]
		for j, v := range e.mass {
			row[j] += p * v
		}
	}
	b.inf = e.inf + d.inf*finite
	return b.side(rounding)
}
