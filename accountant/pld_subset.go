package accountant

import "math"

// subsetPair is variant 1: tune runs on a subset of rate q and base on the rest. Given the split of the other samples,
// the likelihood ratio of the two outcomes together is q L1 + (1-q) L2 with L1 from tune and L2 from base, which may
// depend on tune's outcome. Every hockey-stick divergence is an expectation of a function that is convex in L2 for fixed
// L1, and after replacing L2's law by its bound still convex in L1; so both may be replaced.
type subsetPair struct {
	tune, base *pair
	q          float64
}

// pair puts the divergences on the grid.
func (s subsetPair) pair() (*pair, error) {
	step := s.tune.removal.step
	remove := make([]float64, max(0, s.tune.removal.high(), s.base.removal.high())+1)
	add := make([]float64, max(0, s.tune.addition.high(), s.base.addition.high())+1)
	if len(remove)*len(s.tune.removal.mass)+len(add)*len(s.tune.addition.mass) > mostWork/8 {
		return nil, errTooFine
	}
	for k := range remove {
		remove[k] = s.remove(float64(k) * step)
	}
	for k := range add {
		add[k] = s.add(float64(k) * step)
	}
	return hullPair(step, remove, add)
}

func (s subsetPair) deltaAt(epsilon float64) float64 {
	return math.Max(s.remove(epsilon), s.add(epsilon))
}

// remove is E (q L1 + (1-q) L2 - e^epsilon)_+ under Q, plus what P has at infinity.
func (s subsetPair) remove(epsilon float64) float64 {
	level := math.Exp(epsilon)
	tune := s.tune.removal
	masses := tune.opposite()
	rest := cutToOne(masses)
	total := s.q*tune.inf + rest*s.baseAbove(level)
	for i, w := range masses {
		if w > 0 {
			total += w * s.baseAbove(level-s.q*math.Exp(tune.loss(i))-level*cancelled)
		}
	}
	return total * (1 + rounding)
}

// cancelled is the relative rounding error of a difference, of the terms before it: no sample's share of the divergence
// gets smaller if the difference is moved by it.
const cancelled = 0x1p-49

// baseAbove is E ((1-q) L2 - c)_+ and what P has at infinity.
func (s subsetPair) baseAbove(c float64) float64 {
	if c <= 0 {
		return (1 - s.q) - c
	}
	return (1 - s.q) * s.base.remove(math.Log(c/(1-s.q)))
}

// add is E (1 - e^epsilon (q L1 + (1-q) L2))_+ under Q.
func (s subsetPair) add(epsilon float64) float64 {
	level := math.Exp(epsilon)
	tune := s.tune.addition
	total := tune.inf * s.baseBelow(1, level)
	for i, w := range tune.mass {
		if c := 1 - level*s.q*math.Exp(-tune.loss(i)) + cancelled; w > 0 && c > 0 {
			total += w * s.baseBelow(c, level)
		}
	}
	return total * (1 + rounding)
}

// baseBelow is E (c - level (1-q) L2)_+, for c > 0.
func (s subsetPair) baseBelow(c, level float64) float64 {
	return c * s.base.add(math.Log(level*(1-s.q)/c))
}
