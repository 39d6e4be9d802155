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
	if len(remove)*len(s.tune.removal.mass)+len(add)*len(s.tune.addition.mass) > mostWork/2 {
		return nil, errTooFine
	}
	removal, addition := s.removal(), s.addition()
	for k := range remove {
		remove[k] = removal(float64(k) * step)
	}
	for k := range add {
		add[k] = addition(float64(k) * step)
	}
	return hullPair(step, remove, add)
}

func (s subsetPair) deltaAt(epsilon float64) float64 {
	return math.Max(s.remove(epsilon), s.add(epsilon))
}

func (s subsetPair) remove(epsilon float64) float64 { return s.removal()(epsilon) }
func (s subsetPair) add(epsilon float64) float64    { return s.addition()(epsilon) }

// removal returns E (q L1 + (1-q) L2 - e^epsilon)_+ under Q, plus what P has at infinity, as a function of epsilon.
func (s subsetPair) removal() func(epsilon float64) float64 {
	tune := s.tune.removal
	masses := tune.opposite()
	rest := cutToOne(masses)
	ratios := make([]float64, len(masses))
	for i := range ratios {
		ratios[i] = s.q * math.Exp(tune.loss(i))
	}
	return func(epsilon float64) float64 {
		epsilon = math.Min(epsilon, largestLoss) // no divergence grows, and e^epsilon stays finite
		level := math.Exp(epsilon)
		level -= level * tune.cancelled(epsilon)
		total := s.q*tune.inf + rest*s.baseAbove(level)
		for i, w := range masses {
			if w > 0 {
				total += w * s.baseAbove(level-ratios[i])
			}
		}
		return total * (1 + rounding)
	}
}

// addition returns E (1 - e^epsilon (q L1 + (1-q) L2))_+ under Q as a function of epsilon.
func (s subsetPair) addition() func(epsilon float64) float64 {
	tune := s.tune.addition
	ratios := make([]float64, len(tune.mass))
	for i := range ratios {
		ratios[i] = s.q * math.Exp(-tune.loss(i))
	}
	return func(epsilon float64) float64 {
		epsilon = math.Min(epsilon, largestLoss)
		level, one := math.Exp(epsilon), 1+tune.cancelled(epsilon)
		total := tune.inf * s.baseBelow(one, level)
		for i, w := range tune.mass {
			if c := one - level*ratios[i]; w > 0 && c > 0 {
				total += w * s.baseBelow(c, level)
			}
		}
		return total * (1 + rounding)
	}
}

// cancelled bounds the rounding of e^epsilon and of the tuning's ratios, and of their difference, relative to the larger:
// differences are moved by it, to the side where they count more.
func (s *side) cancelled(epsilon float64) float64 {
	return 0x1p-51 * (8 + math.Abs(epsilon) + math.Max(math.Abs(s.loss(0)), math.Abs(s.loss(len(s.mass)-1))))
}

// baseAbove is E ((1-q) L2 - c)_+ and what P has at infinity.
func (s subsetPair) baseAbove(c float64) float64 {
	if c <= 0 {
		return (1 - s.q) - c
	}
	return (1 - s.q) * s.base.remove(ln(c/(1-s.q)))
}

// baseBelow is E (c - level (1-q) L2)_+, for c > 0.
func (s subsetPair) baseBelow(c, level float64) float64 {
	return c * s.base.add(ln(level*(1-s.q)/c))
}
