package pld

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A worstOrder is the plan of a tuning run and a final run as an order sees it. With the sample an outcome of both has the
// law u s1 + v s0, and without it w s0, where s1 and s0 are the laws of the tuning's outcome when its data have the sample
// and when they don't, and u, v and w belong to the final run's outcome.
type WorstOrder struct {
	u, v, w []float64
	none    float64 // P(K=0)
	// up[j][i] is what cell j adds to s1 and s0 in state (i, j), and down[j][i] what cell i-1 adds there.
	up, down [][]selected
}

type selected struct{ s1, s0 float64 }

// NewWorstOrder returns the plan of a tuning run, the best of K trials on a sample of the data of rate q, before a final run
// on the rest of them or on all.
func NewWorstOrder(trial, final *Pair, k repetitions.Distribution, q float64, onRest bool) *WorstOrder {
	o := &WorstOrder{none: k.None()}
	finalP, finalQ := final.removal.law(math.MaxInt)
	for k, p := range finalP {
		if onRest {
			o.u = append(o.u, q*finalQ[k])
		} else {
			o.u = append(o.u, q*p)
		}
		o.v, o.w = append(o.v, (1-q)*p), append(o.w, finalQ[k])
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

// finite leaves out the mass at infinity, which stands for the tails of a training run beyond the grid.
func (s *side) finite() *side { return newSide(s.step, s.low, s.mass, 0) }

// law returns two distributions by ascending loss with at most about count outcomes. Each merges neighbours of the
// side's, as post-processing may. What the side's masses have more than a sum of 1, for rounding, is taken from all of
// them alike, and so is the mass at infinity (see finite); what only Q has counts as rounding, too, and is nothing in a
// training run.
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

func (o *WorstOrder) DeltaAt(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, LargestLoss))
	var with, without hinges
	for l, w := range o.w {
		with.add(o.u[l], o.v[l]-x*w)
		without.add(-x*o.u[l], w-x*o.v[l])
	}
	return math.Max(o.best(with.sorted()), o.best(without.sorted()))
}

// best is the largest divergence, a sum of h over cells, of an order that grows an interval.
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

// hinges are a function of (s1, s0), the sum of (a s1 + b s0)_+ over all (a, b). The a's have one sign.
type hinges []struct{ a, b, ratio float64 }

func (h *hinges) add(a, b float64) {
	if a != 0 || b > 0 {
		*h = append(*h, struct{ a, b, ratio float64 }{a, b, -b / a})
	}
}

// sortedHinges has the hinges' sums by the ratio s1/s0 at which each begins to count, or ceases to.
type sortedHinges struct {
	ratio    []float64
	sum      []selected // what counts between ratio[k-1] and ratio[k]
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
	// Sums of terms that count, and nothing subtracted: large ones would leave their rounding.
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
