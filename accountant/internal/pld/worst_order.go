package pld

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A WorstOrder computes the divergence of a tuning run and a final run together under one order of scores: the worst
// that it finds for the plan as a whole among orders that grow an interval of losses. With the sample an outcome of
// both runs has the law u s1 + v s0, and without it w s0, where s1 and s0 are the laws of the tuning's outcome with and
// without the sample in its data, and u, v and w belong to the final run's outcome.
type WorstOrder struct {
	u, v, w []float64
	none    float64 // P(K=0)
	// up[j][i] is what cell j adds to s1 and s0 in state (i, j), and down[j][i] what cell i-1 adds there.
	up, down [][]selected
}

// selected holds masses, or rates, of s1 and s0.
type selected struct{ s1, s0 float64 }

// NewWorstOrder returns the worst order for a tuning run, the best of K trials on a sample of the data of rate q,
// before a final run on the rest of the data or on all. trial and final are pairs of training runs.
func NewWorstOrder(trial, final *Pair, k repetitions.Distribution, q float64, onRest bool) *WorstOrder {
	o := &WorstOrder{none: k.None()}
	finalP, finalQ := final.removal.law(math.MaxInt)
	for l, p := range finalP {
		if onRest {
			o.u = append(o.u, q*finalQ[l])
		} else {
			o.u = append(o.u, q*p)
		}
		o.v, o.w = append(o.v, (1-q)*p), append(o.w, finalQ[l])
	}

	p, s := trial.removal.law(CellCountAlone)
	p, s = cutDeep(p, s, 0, k, CellCountAlone)
	n := len(p)
	out := outsideOf(p, s, 0)
	added := func(i, j, cell int) selected { // to reach (i, j)
		return selected{slopesAt(k, out.belowP[i]+out.aboveP[j]).rise(k, p[cell]), slopesAt(k, out.belowQ[i]+out.aboveQ[j]).rise(k, s[cell])}
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

// finite returns s without its mass at infinity, which for a training run is its tails beyond the grid.
func (s *side) finite() *side { return newSide(s.step, s.low, s.mass, 0) }

// law returns two distributions by ascending loss with at most about count outcomes. Each outcome merges neighbours of
// the side's, as post-processing may. The distributions are scaled to sums of 1, which takes away the roundings in the
// side's masses, the mass at infinity (see finite), and Q's mass where P has none, of which a training run has none.
func (s *side) law(count int) (p, q []float64) {
	at := s.cellLosses(count)
	n := len(at)
	p, q = make([]float64, n), make([]float64, n)
	k := 0
	for i, m := range s.opposite() {
		if k+1 < n && i >= at[k+1] {
			k++
		}
		p[k] += s.mass[i]
		q[k] += m
	}
	for _, x := range [][]float64{p, q} {
		total := 0.0
		for _, m := range x {
			total += m
		}
		for k := range x {
			x[k] /= total
		}
	}
	return p, q
}

// DeltaAt returns the larger divergence of both directions at epsilon.
func (o *WorstOrder) DeltaAt(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, LargestLoss))
	var with, without hinges
	for l, w := range o.w {
		with.add(o.u[l], o.v[l]-x*w)
		without.add(-x*o.u[l], w-x*o.v[l])
	}
	return math.Max(o.best(with.sorted()), o.best(without.sorted()))
}

// best returns the largest divergence, a sum of h over cells, of an order that grows an interval.
func (o *WorstOrder) best(h *sortedHinges) float64 {
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
	// Sums add the terms that count and subtract none: large terms would leave their rounding behind.
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
