package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Divergences bounds the hockey-stick divergence of a mechanism, in either direction, by its Rényi curve, at epsilons
// from 0 on. At may be called with any epsilons in any order, and concurrently.
//
// Let P and Q be the mechanism's laws, and L = p/q under Q, so that E L = 1 and E L^a <= e^{(a-1) r} at an order a with
// the divergence r. For v >= 0 the function g(l) = l^a - a v^{a-1} l + (a-1) v^a is convex, with its minimum 0 at l =
// v, and its tangent at u is g1(u) (l - s) with
//
//	g1(u) = a (u^{a-1} - v^{a-1}),   s = (a-1) (u^a - v^a)/g1(u).
//
// So for u > v we have (l-s)_+ <= g(l)/g1(u) for all l >= 0. The divergence of P from Q at log s, E (L-s)_+, is at most
// N/g1(u) with
//
//	N = e^{(a-1) r} - a v^{a-1} + (a-1) v^a.
//
// With v = 0 it is the conversion of Canonne, Kamath and Steinke, and for a = 2 with the best v of any sign it is the
// bound by two moments (twoMomentDelta). For a negative v there is another form: g(l) = l^a + m l with m >= 0 is at
// least 0 for l >= 0 and has the tangent g1(u) (l - s) with g1(u) = a u^{a-1} + m and s = (a-1) u^a/g1(u). For u = e^r
// it says that the divergence is at most (e^{(a-1) r} + m)/g1(u) = 1 - s/u, for every s <= (1-1/a) u.
//
// After taking the lower convex hull over e^epsilon, the curve allows no smaller bound, up to the search's tolerance
// and roundings. The hull includes negative epsilons, where the bounds follow from the other direction's bounds.
// Theorem 15 of docs/proofs/bounds.md proves it. For each order and direction the probabilities (p, q) that tests of P
// against Q may have are a convex set. The forms are the half-planes around these sets at epsilon >= 0: the other
// direction's Rényi divergence has no smaller half-planes there, and the hull adds the ones around their intersection.
type Divergences struct {
	curve Curve
	zero  []float64 // the bound at epsilon 0 and v = 0, by order
}

// Divergences returns the bounds that all orders of c give.
func (c Curve) Divergences() *Divergences {
	d := &Divergences{curve: c}
	for a, r := range c {
		d.zero = append(d.zero, logDeltaIntercept(max(a, 2), r))
	}
	return d
}

// At returns the bound at epsilon >= 0. It finds the best order, u and v anew at each epsilon, and doesn't depend on
// earlier calls.
func (d *Divergences) At(epsilon float64) float64 {
	high := d.curve.high()
	if high < 2 {
		return 1
	}
	best, least := 2, math.Inf(1)
	try := func(a int) {
		if v := d.at(a, epsilon); v < least {
			best, least = a, v
		}
	}
	// The bounds of the orders may have two minima: the smallest with v = 0, and another with other v.
	usual := 2
	for a := 2; a <= high; a++ {
		if d.zero[a]-float64(a-1)*epsilon < d.zero[usual]-float64(usual-1)*epsilon {
			usual = a
		}
	}
	try(usual)
	for a := 2; a < high; a += (a + 1) / 2 {
		try(a)
	}
	try(high)
	for step := (best + 1) / 2; step > 0; step /= 2 {
		for from := best; ; from = best {
			if try(max(2, from-step)); best == from {
				try(min(high, from+step))
			}
			if best == from {
				break
			}
		}
	}
	return math.Min(1, roundedUp(math.Exp(least)))
}

// at returns the logarithm of the bound by one order, for the best u and v that it finds.
//
// As a function of the ratio w = v/u the bound has a minimum near v = 1. The minimum is narrow if e^y is close to 1,
// because N is e^y - 1 plus a term that grows with the square of v - 1. For small w the bound is level, with the value
// at w = 0.
func (d *Divergences) at(a int, epsilon float64) float64 {
	r := d.curve[a]
	y := float64(a-1) * r * (1 + 2*ulp)
	if math.IsInf(y, 1) {
		return y
	}
	if epsilon <= r+math.Log1p(-1/float64(a))-0x1p-40*(1+r) { // the other form
		return float.Log(-math.Expm1(lowered(epsilon)-r*(1+8*ulp)) * (1 + 8*ulp))
	}
	least := bound(a, y, epsilon, 0)
	if y > 40 { // then v = 0 is best up to a rounding
		return least
	}
	const (
		widest, narrowest = 8, -16
		tolerance, finest = 1e-4, 0x1p-40
	)
	value := func(x float64) float64 { return bound(a, y, epsilon, math.Exp(-math.Exp(x))) } // x is log -log w
	// The search begins where v = 1, but no nearer to w = 1 than where the minimum is at epsilon = 0.
	l := math.Max(2*epsilon, 2*math.Sqrt(2*r/float64(a)))
	for range 6 {
		l = math.Max(epsilon+float.Log(tangent(a, math.Exp(-l))), 2*math.Sqrt(2*r/float64(a)))
	}
	x := math.Max(narrowest+1, math.Min(math.Log(l), widest-1))
	v := value(x)
	for h := 0.5; h > finest; h /= 4 {
		left, right := value(x-h), value(x+h)
		for left < v && x > narrowest {
			x, v, right = x-h, left, v
			left = value(x - h)
		}
		for right < v && x < widest {
			x, v, left = x+h, right, v
			right = value(x + h)
		}
		if math.Max(left, right)-v < tolerance {
			break
		}
		// The vertex of the parabola through the three.
		if to := x + h*(left-right)/2/(left+right-2*v); to > x-h && to < x+h {
			if w := value(to); w < v {
				x, v = to, w
			}
		}
	}
	return math.Min(least, v)
}

// bound returns the logarithm, rounded up, of the bound on the divergence at epsilon by order a, for y = (a-1) times
// the Rényi divergence and w = v/u < 1.
func bound(a int, y, epsilon, w float64) float64 {
	u := math.Exp(lowered(epsilon)) * tangent(a, w)
	return boundBy(a, y, w*u, u, w)
}

// lowered lowers epsilon by more than the roundings of s as a function of u and v: the bounds are for the rounded u and
// v, and s may be off by 40 roundings.
func lowered(epsilon float64) float64 { return epsilon - (1+math.Abs(epsilon))*0x1p-46 }

// tangent returns u/s: a/(a-1) (1 - w^{a-1})/(1 - w^a).
func tangent(a int, w float64) float64 {
	x := float64(a)
	l := math.Log(w)
	return x / (x - 1) * (math.Expm1((x-1)*l) / math.Expm1(x*l))
}

// boundBy returns log N/g1(u), rounded up, where w is v/u.
func boundBy(a int, y, v, u, w float64) float64 {
	x := float64(a)
	if !(w <= 1-0x1p-24) { // too close for floats
		return math.Inf(1)
	}
	// N is the sum of e^y - 1 and 1 - v^{a-1} (1 + (a-1) (1-v)), both positive.
	rest, error := 1.0, 0.0
	if v > 0 {
		d := 1 - v
		t := math.Log1p(-d)
		if math.Abs(d) > 0.5 {
			t = math.Log(v)
		}
		z := (x - 1) * d
		if math.Abs(z) <= 0.5 {
			rest, error = -math.Expm1((x-1)*t+math.Log1p(z)), math.Abs(z)*0x1p-48
		} else {
			power := math.Exp((x - 1) * t)
			rest, error = 1-power*(1+z), (1+power*(1+math.Abs(z))*(4+(x-1)*math.Abs(t)))*0x1p-49
		}
	}
	l := math.Log(u)
	gap := -math.Expm1((x - 1) * math.Log(w))
	n := math.Max(0, rest) + error
	logN := y + n
	if y < 700 {
		logN = float.Log((math.Expm1(y) + n) * (1 + 8*ulp))
	}
	slack := ulp * (8*(math.Abs(logN)+y+(x-1)*(math.Abs(l)+2)+float.Log(x)) + 64 + 8/(1-w))
	b := logN - float.Log(x) - (x-1)*l - math.Log(gap) + slack
	if math.IsNaN(b) {
		return math.Inf(1)
	}
	return b
}
