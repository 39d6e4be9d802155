package pld

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A WorstOrder bounds the divergence of a tuning run and a final run together from below, by the divergence under one
// order of scores: the worst that it finds for the whole plan among orders that grow an interval of losses. With the
// sample an outcome of both runs has the law u s1 + v s0, and without it w s0, where s1 and s0 are the laws of the
// tuning's outcome with and without the sample in its data, and u, v and w belong to the final run's outcome.
type WorstOrder struct{ removal, addition *orderBelow }

// An orderBelow is a WorstOrder in one direction.
type orderBelow struct {
	u, v, w []float64
	none    float64 // P(K=0)
	// up[j][i] is the contribution of cell j to s1 and s0 in state (i, j), and down[j][i] the contribution of cell i-1.
	up, down [][]selected
	slack    float64 // a relative error of everything that enters
}

// selected holds masses, or rates, of s1 and s0.
type selected struct{ s1, s0 float64 }

// NewWorstOrder returns the worst order for a tuning run, the best of K trials on a sample of the data of rate q,
// before a final run on the rest of the data or on all.
func NewWorstOrder(trial, final *Lower, k repetitions.Distribution, q float64, onRest bool) *WorstOrder {
	return &WorstOrder{
		newOrderBelow(trial, final, k, q, onRest, false),
		newOrderBelow(trial, final, k, q, onRest, true),
	}
}

// finalOutcomes is the number of outcomes of a final run.
const finalOutcomes = 2000

// newOrderBelow returns one direction. In the direction of addition the sides' own law is the law without the sample.
//
// By Blackwell's theorem the mechanism's outcomes can be mapped to any pair of laws of lowLaw, and a trial's and a
// final run's outcomes together to the product of their pairs. Any order of the mapped outcomes is an order of the
// mechanisms' outcomes.
func newOrderBelow(trial, final *Lower, k repetitions.Distribution, q float64, onRest, addition bool) *orderBelow {
	if addition {
		trial, final = &Lower{trial.addition, trial.removal}, &Lower{final.addition, final.removal}
	}
	finalP, finalQ, finalRest := final.removal.lowLaw(final.addition, finalOutcomes, 0)
	least := 0.0
	if !(k.Growth(0)*restError < 0x1p-28) {
		least = leastRest
	}
	p, s, rest := trial.removal.lowLaw(trial.addition, CellCountAlone, least)
	// The rest of a law has an error, which counts in every mass outside an interval that contains the rest, and most
	// if the mass contains nothing else. For a binomial K orderOf allows for it.
	slack := 0.0
	if repetitions.Steepens(k) {
		slack = 2 * restError * (k.Growth(p[rest]) + k.Growth(s[rest]))
	}
	error := 4 * restError
	if addition {
		p, s, finalP, finalQ, error = s, p, finalQ, finalP, -error
	}
	o := orderOf(p, s, finalP, finalQ, k, trial.removal.deepest(), q, onRest, addition)
	if onRest { // here the final run's law without the sample counts in the opposite direction
		o.u[finalRest] = math.Max(0, o.u[finalRest]-q*error)
	}
	o.slack += slack
	return o
}

// orderOf returns one direction for the laws p and s of a trial and finalP and finalQ of the final run, with and
// without the sample. A trial's outcomes are by ascending loss, or in the direction of addition by descending loss.
func orderOf(p, s, finalP, finalQ []float64, k repetitions.Distribution, deepest, q float64, onRest, addition bool) *orderBelow {
	k = repetitions.Ready(k)
	o := &orderBelow{none: k.None(), slack: 0x1p-33}
	p, s = cutDeep(p, s, 0, k, deepest, CellCountAlone)
	for l, p := range finalP {
		if onRest {
			o.u = append(o.u, q*finalQ[l])
		} else {
			o.u = append(o.u, q*p)
		}
		o.v, o.w = append(o.v, (1-q)*p), append(o.w, finalQ[l])
	}
	n := len(p)
	out := outsideOf(p, s, 0)
	off := 0.0 // of the masses outside
	if !repetitions.Steepens(k) {
		off = 2*restError + float64(n)*0x1p-52
	}
	added := func(i, j, cell int) selected { // to reach (i, j)
		s1, error1 := riseWithin(k, out.belowP[i]+out.aboveP[j], p[cell], off)
		s0, error0 := riseWithin(k, out.belowQ[i]+out.aboveQ[j], s[cell], off)
		// Doubling s1 and s0 doubles a sum of (a s1 + b s0)_+, so errors of s0 count like errors of s1 and a lower sum.
		// With the sample's removal it grows with s1, with its addition it falls.
		switch {
		case off == 0:
		case !(error1+error0 < 0.25):
			return selected{}
		case addition:
			s1, s0 = s1*(1+error1), s0*(1-error0)
		default:
			s1, s0 = s1*(1-error1)*(1-2*error0), s0*(1-error0)
		}
		return selected{s1, s0}
	}
	for j := range n + 1 {
		var up, down []selected
		for i := range j + 1 {
			if j < n {
				up = append(up, added(i, j+1, j))
			}
			if i > 0 {
				down = append(down, added(i-1, j, i-1))
			} else {
				down = append(down, selected{})
			}
		}
		o.up, o.down = append(o.up, up), append(o.down, down)
	}
	return o
}

// riseWithin returns the rise of phi by a mass, where w is outside the interval that it completes, and a bound on the
// relative error of the rise if w is off by up to off. For a binomial K phi1 grows fastest where little has been
// placed, at w+mass. If w changes, the rise changes by the difference of phi1 at the mass's two ends, so its error is
// at most phi1's error at the end.
func riseWithin(k repetitions.Distribution, w, mass, off float64) (rise, error float64) {
	rise = slopesAt(k, w).rise(k, mass)
	if off == 0 || k.Growth(0) == 0 { // with one trial phi1 is the same everywhere
		return rise, 0
	}
	error = off / k.Span(math.Max(0, w-off), mass)
	if growth := k.Growth(w + mass + off); growth > 0 {
		error = math.Min(error, growth*off)
	}
	return rise, 2 * error
}

// DeltaAt returns a lower bound of the larger divergence of both directions at epsilon.
func (o *WorstOrder) DeltaAt(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, LargestLoss))
	var with, without hinges
	for l, w := range o.removal.w {
		more, less := 1+o.removal.slack, 1-o.removal.slack
		with.add(o.removal.u[l]*less, o.removal.v[l]*less-x*w*more)
	}
	for l, w := range o.addition.w {
		more, less := 1+o.addition.slack, 1-o.addition.slack
		without.add(-x*o.addition.u[l]*more, w*less-x*o.addition.v[l]*more)
	}
	return math.Max(0, math.Max(o.removal.best(with.sorted()), o.addition.best(without.sorted()))*(1-rounding))
}

// best returns the largest divergence, a sum of h over cells, of an order that grows an interval.
func (o *orderBelow) best(h *sortedHinges) float64 {
	n := len(o.up) - 1
	value := make([]float64, n+1) // of state (i, j)
	best := 0.0
	for j := n; j >= 0; j-- {
		for i := range j + 1 {
			v := 0.0
			if j < n {
				v = value[i] + h.at(o.up[j][i])
			}
			if i > 0 {
				if w := value[i-1] + h.at(o.down[j][i]); w > v || j == n {
					v = w
				}
			}
			value[i] = v
		}
		best = math.Max(best, value[j])
	}
	return best + h.at(selected{o.none, o.none})
}

// hinges are the terms of a sum of (a s1 + b s0)_+, as a function of (s1, s0). The a's have one sign.
type hinges []struct{ a, b, ratio float64 }

func (h *hinges) add(a, b float64) {
	if a != 0 || b > 0 {
		*h = append(*h, struct{ a, b, ratio float64 }{a, b, -b / a})
	}
}

// sortedHinges holds partial sums of hinges by the ratio s1/s0 at which each hinge begins to count, or ceases to.
type sortedHinges struct {
	ratio    []float64
	sum      []selected // of the hinges that count between ratio[k-1] and ratio[k]
	constant float64    // of s0
}

func (h hinges) sorted() *sortedHinges {
	out := &sortedHinges{}
	sort.Slice(h, func(i, j int) bool { return h[i].ratio < h[j].ratio })
	for _, x := range h {
		if x.a == 0 {
			out.constant += x.b
		} else {
			out.ratio = append(out.ratio, x.ratio)
		}
	}
	// Sums add the terms that count and subtract none, since a subtracted large term would leave its rounding behind.
	out.sum = make([]selected, len(out.ratio)+1)
	k := 0
	for _, x := range h {
		if x.a != 0 {
			k++
			out.sum[k] = out.sum[k-1]
		}
		if x.a > 0 {
			out.sum[k] = selected{out.sum[k].s1 + x.a, out.sum[k].s0 + x.b}
		}
	}
	var above selected
	for l := len(h) - 1; l >= 0; l-- {
		if x := h[l]; x.a < 0 {
			k--
			above = selected{above.s1 + x.a, above.s0 + x.b}
			out.sum[k] = above
		} else if x.a > 0 {
			k--
		}
	}
	return out
}

func (h *sortedHinges) at(x selected) float64 {
	low, high := 0, len(h.ratio)
	for low < high {
		if mid := int(uint(low+high) / 2); h.ratio[mid]*x.s0 < x.s1 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	k := h.sum[low]
	return math.Max(0, k.s1*x.s1+k.s0*x.s0) + h.constant*x.s0
}
