package pld

import "math"

// A side bounds the hockey-stick divergences of one direction by a measure on a grid of privacy losses: mass[i] is at
// loss l = (low+i)·step, and inf is where the other distribution has no mass. The measure represents the function
//
//	R(epsilon) = inf + sum over l > epsilon of mass (1 - e^{epsilon - l}),
//
// which is piecewise linear in e^epsilon between grid points. A side promises one thing: at every real epsilon R is at
// least the divergence, in this direction, of the mechanism on any two neighbours. Its masses need not be a
// distribution's: they may add up to more than 1, and don't bound the other direction. R grows with every mass and with
// every loss, so that it is always safe to raise masses and to move them to higher losses.
//
// A side is immutable.
type side struct {
	Grid
	low  int
	mass []float64
	inf  float64
	// offset, from 0 to step, is added to all losses: 0 except in a [Lower].
	offset float64

	// above[k] is the sum over i >= k of mass[i] e^{-(i-k) step}, and curve[k] is R at the k-th loss. Both come from
	// recurrences of positive terms, so that R keeps all its digits however small it is: R falls by above[k] (1 -
	// e^-step) from point k-1 to k.
	above, curve []float64
}

const (
	// mostPoints is the largest number of masses of a side.
	mostPoints = 1 << 18
	// rounding bounds roundingOf any number of masses.
	rounding = 0x1p-32
	// LargestLoss keeps e^loss and e^-loss far from overflow and underflow.
	LargestLoss = 600
)

// roundingOf bounds the relative rounding error of one operation on the masses of a side, which raises its result by as
// much. An operation takes sums of at most n non-negative terms, products of a few factors, and exponentials of
// arguments up to LargestLoss that carry a few roundings. The constant rounding would be too large: masses that add up
// to more than 1 are cut at the bottom (massesToOne), where Q has many times as much, and many trials magnify that.
func roundingOf(n int) float64 { return (6*float64(n) + 10*LargestLoss) * 0x1p-53 }

func newSide(g Grid, low int, mass []float64, inf float64) *side {
	n := len(mass)
	s := &side{Grid: g, low: low, mass: mass, inf: inf, above: make([]float64, n), curve: make([]float64, n)}
	fade, drop := math.Exp(-g.step), -math.Expm1(-g.step)
	above, r := 0.0, inf
	for k := n - 1; k >= 0; k-- {
		s.curve[k] = r
		above = mass[k] + fade*above
		s.above[k] = above
		r += drop * above
	}
	return s
}

// neutralSide returns the side of a mechanism that ignores its data: R = (1 - e^epsilon)_+.
func neutralSide(g Grid) *side { return newSide(g, 0, []float64{1}, 0) }

func (s *side) loss(i int) float64 { return float64(s.low+i)*s.step + s.offset }

// high returns the position of the last loss.
func (s *side) high() int { return s.low + len(s.mass) - 1 }

// at returns R(epsilon).
func (s *side) at(epsilon float64) float64 {
	// R doesn't grow, so that a lower epsilon is safe: losses carry a rounding.
	epsilon = math.Max(-2*LargestLoss, math.Min(epsilon, 2*LargestLoss))
	epsilon -= math.Abs(epsilon) * 0x1p-50
	n := len(s.mass)
	k := int(math.Max(0, math.Min(math.Floor(epsilon/s.step)+1-float64(s.low), float64(n))))
	for k > 0 && s.loss(k-1) > epsilon {
		k--
	}
	for k < n && s.loss(k) <= epsilon {
		k++
	}
	if k == n {
		return s.inf
	}
	return s.curve[k] - s.above[k]*math.Expm1(epsilon-s.loss(k))
}

// total returns R at minus infinity, which is at least 1.
func (s *side) total() float64 { return s.curve[0] + s.above[0] }

// opposite returns the other distribution's masses at the same losses.
func (s *side) opposite() []float64 {
	q := make([]float64, len(s.mass))
	for i, p := range s.mass {
		if p > 0 {
			q[i] = p * math.Exp(-s.loss(i))
		}
	}
	return q
}

// accurate is a sum with an error of about one rounding.
type accurate struct{ sum, rest float64 }

func (a *accurate) add(x float64) {
	t := a.sum + x
	if a.sum >= x {
		a.rest += (a.sum - t) + x
	} else {
		a.rest += (x - t) + a.sum
	}
	a.sum = t
}

func (a accurate) plus(x float64) float64 { a.add(x); return a.value() }
func (a accurate) value() float64         { return a.sum + a.rest }
