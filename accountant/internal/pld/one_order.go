package pld

import (
	"math"
	"slices"
)

// A oneOrder bounds one direction of a plan by orders of scores that nearly all outcomes of the final run share.
//
// Let s1 and s0 be the laws of the tuning's outcome in that direction. Given an outcome, the final run's side bounds
// the divergence of the final run. So the plan's divergence is at most the integral of a sum of terms
//
//	m (alpha s1 - beta s0)_+,
//
// one for each loss of the final run. Where beta <= 0 a term is the same for all orders, as s1 and s0 integrate to 1.
// The other terms are levels w (s1 - c s0)_+, and their sum is s1 R(s0/s1), where R(z) is the sum of the w (1 - c z)_+.
//
// Every level by itself is at most w times the tuning's divergence at log c. For levels together, let R be raised to
// the R of a measure of weights that has a log-concave density over log c. Then the worst order grows an interval of
// losses, and a [wholeOrder] bounds it. docs/proofs/bounds.md proves this for all K of package repetitions but a
// binomial one.
type oneOrder struct {
	terms terms
	tuned *side // of the tuning's outcome
	order func() *wholeOrder
	none  float64 // P(K=0)
}

// A level is the function w (1 - c z)_+ of z.
type level struct {
	w, c, log float64
	alone     float64 // its bound with an order of its own, K = 0 included
}

// levels returns the divergence that is the same for all orders, and the levels by ascending c. The divergence is NaN
// if a level overflows.
func (o *oneOrder) levels(epsilon float64) (same float64, levels []level) {
	const largest = 1e250
	beside := o.terms(epsilon, func(m, alpha, beta float64) {
		switch {
		case m == 0 || alpha <= 0:
		case beta <= 0:
			same += m * (alpha - beta)
		default:
			// c is rounded down, so that 1 - c z isn't too small where it nearly cancels.
			x := level{w: m * alpha, c: math.Min(beta/alpha*(1-0x1p-48), largest)}
			if math.IsNaN(x.c) { // alpha and beta overflow: there is no bound
				same = math.NaN()
				return
			}
			x.log = math.Log(x.c)
			for n := len(levels) - 1; n >= 0 && x.log <= levels[n].log; n-- { // levels count more at the smaller c
				x.w, x.c = x.w+levels[n].w, math.Min(x.c, levels[n].c)
				x.log, levels = math.Log(x.c), levels[:n]
			}
			levels = append(levels, x)
		}
	})
	for i := range levels {
		levels[i].alone = levels[i].w * o.tuned.at(levels[i].log)
	}
	return beside + same, levels
}

const (
	// CellCountShared is the number of cells of different losses of trials within a plan.
	CellCountShared = 320
	// mostShares is the largest number of groups of levels that share an order.
	mostShares = 3
	// mostTried is the largest number of candidates for a group that are evaluated.
	mostTried = 2
	// The highest levels keep orders of their own while they cost at most the share highest of the whole cost, and the
	// lowest levels while their cost beyond w (1 - c), which is the same for all orders, is at most the share lowest.
	// The lowest levels' c are close to 0, so their logarithms depend on the grid's position, and so would a density
	// that begins there.
	highest, lowest = 1e-4, 1e-5
)

// cuts are tried for the lowest level of a group. Each is the share of the whole cost that the levels below it have.
var cuts = []float64{1e-9, 1e-4, 0.01, 0.04, 0.15, 0.3, 0.55}

// at bounds the direction's divergence at epsilon.
func (o *oneOrder) at(epsilon float64) float64 {
	total, levels := o.levels(math.Min(epsilon, LargestLoss))
	for range mostShares {
		candidates, dropped := o.candidates(levels)
		if len(candidates) == 0 {
			break
		}
		least, group := math.Inf(1), 0.0
		costs, calls := make([]float64, len(candidates)), make([]func(), len(candidates))
		for i, s := range candidates {
			calls[i] = func() { costs[i] = o.together(s) }
		}
		atOnce(calls...)
		for i, s := range candidates {
			cost := costs[i]
			if all := cost + aloneOf(s.alone); all < least {
				least, group, levels = all, cost, s.alone
			}
		}
		if math.IsInf(least, 1) {
			break
		}
		total += group + dropped
	}
	return (total + aloneOf(levels)) * (1 + 4*rounding)
}

// together bounds the cost of a group of levels, with one order or an order each.
func (o *oneOrder) together(s *sharing) float64 {
	cost := o.order().worst(s.mixture())
	for _, x := range s.levels {
		cost += o.none * x.w * math.Max(0, 1-x.c)
	}
	if alone := aloneOf(s.levels); !(cost < alone) {
		return alone
	}
	return cost
}

// aloneOf returns the cost of levels with an order each.
func aloneOf(levels []level) (cost float64) {
	for _, x := range levels {
		cost += x.alone
	}
	return cost
}

// candidates returns groups that may be worth an order, and the cost of the levels above and below them.
func (o *oneOrder) candidates(levels []level) (best []*sharing, dropped float64) {
	all, n := aloneOf(levels), len(levels)
	for ; n > 0 && dropped+levels[n-1].alone <= highest*all; n-- {
		dropped += levels[n-1].alone
	}
	first := 0
	for excess := 0.0; first < n; first++ {
		x := levels[first]
		if excess += math.Max(0, x.alone-x.w*(1-x.c)); !(excess <= lowest*all) {
			break
		}
		dropped += x.alone
	}
	levels, n = levels[first:n], n-first
	prices := []float64{1.5 * all}
	low, below, last := 0, 0.0, -1
	for _, cut := range cuts {
		for low < n && below+levels[low].alone <= cut*all {
			below += levels[low].alone
			low++
		}
		if low == last || n-low < 2 {
			continue
		}
		last = low
		s := newSharing(levels, low)
		price := s.price(o.tuned) + 1.5*aloneOf(s.alone)
		for k := range prices {
			if price < prices[k] {
				best, prices = slices.Insert(best, k, s), slices.Insert(prices, k, price)
				break
			}
		}
	}
	return best[:min(len(best), mostTried)], dropped
}
