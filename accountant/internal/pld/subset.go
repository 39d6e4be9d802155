package pld

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Subset bounds variant 1: Tune runs on a subset of the given rate q, and Base, which may depend on Tune's outcome, on
// the rest. Given the split of the other samples, the likelihood ratio of the two outcomes together is q L1 + (1-q) L2,
// with L1 from Tune and L2 from Base. Every hockey-stick divergence is the expectation of a function that is convex in
// L2 for fixed L1, and still convex in L1 after L2's law has been replaced by its bound. So both laws may be replaced.
type Subset struct {
	Tune, Base *Pair
	Rate       float64
}

// Pair returns the bounds as a pair, on the grid of Tune and Base.
func (s Subset) Pair() (*Pair, error) {
	g := s.Tune.removal.Grid
	remove := make([]float64, max(0, s.Tune.removal.high(), s.Base.removal.high())+1)
	add := make([]float64, max(0, s.Tune.addition.high(), s.Base.addition.high())+1)
	if len(remove)*len(s.Tune.removal.mass)+len(add)*len(s.Tune.addition.mass) > mostWork/2 {
		return nil, ErrTooFine
	}
	removal, addition := s.removal(), s.addition()
	for k := range remove {
		remove[k] = removal(float64(k) * g.step)
	}
	for k := range add {
		add[k] = addition(float64(k) * g.step)
	}
	return hullPair(g, remove, add)
}

func (s Subset) DeltaAt(epsilon float64) float64 {
	return math.Max(s.Remove(epsilon), s.Add(epsilon))
}

func (s Subset) Remove(epsilon float64) float64 { return s.removal()(epsilon) }
func (s Subset) Add(epsilon float64) float64    { return s.addition()(epsilon) }

// removal returns E (q L1 + (1-q) L2 - e^epsilon)_+ under Q, plus P's mass at infinity, as a function of epsilon.
func (s Subset) removal() func(epsilon float64) float64 {
	tune := s.Tune.removal
	masses := tune.opposite()
	rest := cutToOne(masses)
	ratios := make([]float64, len(masses))
	for i := range ratios {
		ratios[i] = s.Rate * math.Exp(tune.loss(i))
	}
	return func(epsilon float64) float64 {
		epsilon = math.Min(epsilon, LargestLoss) // no divergence grows, and e^epsilon stays finite
		level := math.Exp(epsilon)
		level -= level * tune.cancelled(epsilon)
		total := s.Rate*tune.inf + rest*s.baseAbove(level)
		for i, w := range masses {
			if w > 0 {
				total += w * s.baseAbove(level-ratios[i])
			}
		}
		return total * (1 + rounding)
	}
}

// addition returns E (1 - e^epsilon (q L1 + (1-q) L2))_+ under Q as a function of epsilon.
func (s Subset) addition() func(epsilon float64) float64 {
	tune := s.Tune.addition
	ratios := make([]float64, len(tune.mass))
	for i := range ratios {
		ratios[i] = s.Rate * math.Exp(-tune.loss(i))
	}
	return func(epsilon float64) float64 {
		epsilon = math.Min(epsilon, LargestLoss)
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

// cancelled bounds the rounding of e^epsilon, of the side's ratios e^l and of their difference, relative to the larger.
// Differences are moved by it in the direction in which they count more.
func (s *side) cancelled(epsilon float64) float64 {
	return 0x1p-51 * (8 + math.Abs(epsilon) + math.Max(math.Abs(s.loss(0)), math.Abs(s.loss(len(s.mass)-1))))
}

// baseAbove returns E ((1-q) L2 - c)_+ plus P's mass at infinity.
func (s Subset) baseAbove(c float64) float64 {
	if c <= 0 {
		return (1 - s.Rate) - c
	}
	return (1 - s.Rate) * s.Base.Remove(float.Log(c/(1-s.Rate)))
}

// baseBelow returns E (c - level (1-q) L2)_+, for c > 0.
func (s Subset) baseBelow(c, level float64) float64 {
	return c * s.Base.Add(float.Log(level*(1-s.Rate)/c))
}
