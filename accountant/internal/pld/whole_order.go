package pld

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A wholeOrder bounds the worst order of scores for many levels c at once: the supremum over the orders that grow an
// interval of losses of
//
//	the integral of Psi(s1, s0),  Psi(a, b) = a R(b/a),
//
// with s1 = p phi1(F) and s0 = q phi1(G) as for an ordering. R is a mixture of (1 - c z)_+, so Psi is convex, grows
// with a and falls with b. Outcomes that only P has come last in a worst order: they count R(0) for a unit of s1, and
// no outcome counts more. Outcomes that only Q has come last of all: they never count, and early they would raise s0
// for the others.
//
// Proof of the bound, over all orders of parts of cells. Let t be the interval's upper end and d its lower end, both
// counted in cells and their parts, and A = phi1(F), B = phi1(G) as functions of (d, t). An order is a path on which t
// grows and d falls. In cell j of t it earns Psi(p_j A, q_j B) dt, and in cell i of d Psi(p_i A, q_i B) |dd|.
//
// Rates. On the square of cells (i, j) F and G are linear, and phi1 and phi2 are convex. So A is at most the bilinear
// interpolation of its corners. B is at least the interpolation of its corners less (q_i² + q_j²)/8 times the largest
// phi3, the error of linear interpolation in d and in t; and B is at least the minimum of its corners. A square takes
// one of the two bounds for all of its corners, and a node the minimum of the proposals of the squares around it. Psi
// is convex and monotone, so both rates are at most the bilinear interpolations of their values at the corners. These
// interpolations take the rates' place. They are nowhere negative.
//
// Paths. A path that begins inside of cell k earns no less if it comes from (d, t) = (k+1, k), where F = -p_k and phi1
// is continued. So let a path lead from a node to the node (0, n). Let S be the set of the (d, t) such that the path
// places d before t, and S_x, for x uniform in (0, 1), the union of all squares of which S has a larger share than x.
// Shares grow with i and j, so S_x belongs to a path of whole moves. By Green's theorem the two paths differ by the
// integrals of the rates' curl over S and over S_x. In the mean over x these are the same in a square where the curl is
// constant. It is not: as a function of the position in the square it has the terms y (t-1/2) and x (d-1/2), where y
// and x are the mixed second differences of the two rates' corners. So a square that the path crosses adds at most
// (|y|+|x|)/8, and some path of whole moves, plus the allowances of the squares that the path crosses, earns no less
// than the path. The path of whole moves touches each of these: of the squares beside (i, j), (i-1, j-1) is outside of
// S and (i+1, j+1) in it as a whole. So it is charged with every square that it touches, when it first does: a move
// with the two squares beyond its end, and the start (k+1, k) with the square (k, k). A whole move earns the mean of
// the rates at its two ends.
type wholeOrder struct {
	p, q   []float64
	states [][]orderState // [j][i] is (d, t) = (i, j), i <= j+1
	top    float64        // the mass of s1 that counts R(0)
}

// An orderState holds bounds a on phi1(F) and b on phi1(G), and the logarithm of b/a.
type orderState struct{ a, b, ratio float64 }

// newWholeOrder returns the wholeOrder of a side, cut into cells as by newOrdering.
func newWholeOrder(s *side, k repetitions.Distribution, count int) *wholeOrder {
	p, q, inf := s.cutCells(k, count)
	return wholeOrderOf(p, q, inf, k)
}

// wholeOrderOf returns the wholeOrder of cells by ascending loss, with masses p and q. inf is P's mass where Q has
// none.
func wholeOrderOf(p, q []float64, inf float64, k repetitions.Distribution) *wholeOrder {
	k = repetitions.Ready(k)
	n := len(p)
	out := outsideOf(p, q, inf)
	o := &wholeOrder{p: p, q: q, states: make([][]orderState, n+1), top: slopesAt(k, 0).rise(k, inf) * (1 + rounding)}
	atQ := make([][]slopes, n+1)
	for j := range n + 1 {
		o.states[j], atQ[j] = make([]orderState, min(j+1, n)+1), make([]slopes, min(j+1, n)+1)
		for i := range o.states[j] {
			o.states[j][i].a = math.Exp(k.LogSlope(out.leastP(i, j))) * (1 + rounding)
			o.states[j][i].b = math.Inf(1)
			atQ[j][i] = slopesAt(k, out.mostQ(i, j))
		}
	}
	for j := range n {
		for i := range j + 1 {
			third := slopesAt(k, out.leastQ(i, j+1)).third // rounded up
			least, less := atQ[j][i+1].first, (q[i]*q[i]+q[j]*q[j])/8*third
			propose := func(i, j int) {
				b := least
				if less < least/2 {
					b = atQ[j][i].first - less
				}
				o.states[j][i].b = math.Min(o.states[j][i].b, b*(1-4*rounding))
			}
			propose(i, j)
			propose(i+1, j)
			propose(i, j+1)
			propose(i+1, j+1)
		}
	}
	for j := range o.states {
		for i := range o.states[j] {
			s := &o.states[j][i]
			s.ratio = math.Log(s.b / s.a)
		}
	}
	return o
}

// worst returns an upper bound of the supremum.
func (o *wholeOrder) worst(r *mixture) float64 {
	n := len(o.p)
	if n == 0 {
		return r.atZero() * o.top * (1 + rounding)
	}
	next := make([]float64, 12*(n+2))
	take := func() []float64 {
		s := next[:n+2]
		next = next[n+2:]
		return s
	}
	value := take()                                  // of state (i, j+1), and then of (i, j)
	sideways, sidewaysBelow := take(), take()        // gain of placing cell i at (i, j), and at (i, j-1)
	sidewaysEnd, sidewaysEndBelow := take(), take()  // the same at (i+1, j)
	up, upEnd := take(), take()                      // gain of placing cell j at (i, j), and at (i, j+1)
	upBelow, upEndBelow := take(), take()            // the same of cell j-1
	allowance := take()                              // of squares (i-1, j), to begin with
	allowanceAbove, allowanceBelow := take(), take() // of squares (i-1, j+1), and (i-1, j-1)
	logs := make([]float64, n)                       // log q/p of each cell
	for i := range logs {
		logs[i] = math.Log(o.q[i] / o.p[i])
	}
	rates := func(j int, along, end []float64) {
		states := o.states[j]
		for i, s := range states {
			if i < n && i <= j {
				along[i] = r.rate(o.p[i]*s.a, o.q[i]*s.b, s.ratio+logs[i])
			}
			if i > 0 {
				end[i-1] = r.rate(o.p[i-1]*s.a, o.q[i-1]*s.b, s.ratio+logs[i-1])
			}
		}
	}
	rates(n, sideways, sidewaysEnd)
	best := 0.0
	for j := n; j >= 0; j-- {
		if j > 0 {
			rates(j-1, sidewaysBelow, sidewaysEndBelow)
			c := j - 1
			for i := range j + 1 {
				s, t := o.states[c][i], o.states[j][i]
				upBelow[i] = r.rate(o.p[c]*s.a, o.q[c]*s.b, s.ratio+logs[c])
				upEndBelow[i] = r.rate(o.p[c]*t.a, o.q[c]*t.b, t.ratio+logs[c])
			}
			for i := range j {
				x := upEndBelow[i] - upEndBelow[i+1] - (upBelow[i] - upBelow[i+1])
				y := sideways[i] - sidewaysEnd[i] - (sidewaysBelow[i] - sidewaysEndBelow[i])
				// and what they may have lost by rounding
				size := upEndBelow[i] + upBelow[i] + upEndBelow[i+1] + upBelow[i+1] +
					sideways[i] + sidewaysEnd[i] + sidewaysBelow[i] + sidewaysEndBelow[i]
				allowanceBelow[i+1] = (math.Abs(x) + math.Abs(y) + size*0x1p-50) / 8
			}
			clear(allowanceBelow[j+1:])
		} else {
			clear(allowanceBelow)
		}
		for i := range o.states[j] {
			v := 0.0
			if j < n {
				v = value[i] + (up[i]+upEnd[i])/2 + allowanceAbove[i] + allowanceAbove[i+1]
			} else if i == 0 {
				v = r.atZero() * o.top
			}
			if i > 0 {
				w := value[i-1] + (sideways[i-1]+sidewaysEnd[i-1])/2 + allowance[i-1] + allowanceBelow[i-1]
				if !(w <= v) {
					v = w
				}
			}
			value[i] = v
		}
		if j < n {
			best = math.Max(best, value[j+1]+allowance[j+1])
		}
		sideways, sidewaysBelow = sidewaysBelow, sideways
		sidewaysEnd, sidewaysEndBelow = sidewaysEndBelow, sidewaysEnd
		up, upBelow, upEnd, upEndBelow = upBelow, up, upEndBelow, upEnd
		allowanceAbove, allowance, allowanceBelow = allowance, allowanceBelow, allowanceAbove
	}
	return best * (1 + 4*rounding)
}
