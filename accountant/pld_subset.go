package accountant

import "math"

// subsetPair is variant 1: tune runs on a subset of rate q and base on the rest. Given the split of the other samples,
// the likelihood ratio of the two outcomes together is q L1 + (1-q) L2 with L1 from tune and L2 from base, which may
// depend on tune's outcome. Every hockey-stick divergence is an expectation of a function that is convex in L2 for fixed
// L1, and after replacing L2's law by that of its dominating pair still convex in L1; so both may be replaced.
type subsetPair struct {
	tune, base *pair
	q          float64
}

// pair puts the divergences on the grid.
func (s subsetPair) pair() (*pair, error) {
	low := min(s.tune.low, s.base.low)
	high := max(s.tune.low+len(s.tune.p), s.base.low+len(s.base.p)) - 1
	if (high-low)*len(s.tune.p) > mostWork/8 {
		return nil, errTooFine
	}
	c := newHockeyCurve(s.tune.step, low, high)
	for i := range c.remove {
		c.remove[i], c.add[i] = s.remove(c.epsilon(i)), s.add(-c.epsilon(i))
	}
	return c.pair(), nil
}

func (s subsetPair) deltaAt(epsilon float64) float64 {
	return math.Max(s.remove(epsilon), s.add(epsilon))
}

// remove is E (q L1 + (1-q) L2 - e^epsilon)_+ under Q, plus what P has at infinity.
func (s subsetPair) remove(epsilon float64) float64 {
	level := math.Exp(epsilon)
	total := s.q*s.tune.pInf + (1-s.q)*s.base.pInf + s.tune.qInf*s.baseAbove(level)
	for i, w := range s.tune.q {
		if w > 0 {
			total += w * s.baseAbove(level-s.q*math.Exp(s.tune.loss(i)))
		}
	}
	return total
}

// baseAbove is E ((1-q) L2 - c)_+.
func (s subsetPair) baseAbove(c float64) float64 {
	if c <= 0 {
		return (1-s.q)*s.base.pAbove[0] - c
	}
	return (1 - s.q) * s.base.finiteRemove(math.Log(c/(1-s.q)))
}

// add is E (1 - e^epsilon (q L1 + (1-q) L2))_+ under Q.
func (s subsetPair) add(epsilon float64) float64 {
	level := math.Exp(epsilon)
	total := s.tune.qInf * s.baseBelow(1, level)
	for i, w := range s.tune.q {
		c := 1 - level*s.q*math.Exp(s.tune.loss(i))
		if c <= 0 {
			break // losses ascend
		}
		if w > 0 {
			total += w * s.baseBelow(c, level)
		}
	}
	return total
}

// baseBelow is E (c - level (1-q) L2)_+, for c > 0.
func (s subsetPair) baseBelow(c, level float64) float64 {
	return c * s.base.add(math.Log(level*(1-s.q)/c))
}
