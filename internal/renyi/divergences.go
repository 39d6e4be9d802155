package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Divergences bounds the hockey-stick divergence of a mechanism, in either direction, by its Rényi curve, at epsilons
// from 0 on. Call At with ascending epsilons: each search for the best bound begins at the last one. It isn't safe for
// concurrent use.
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
// This is the form above. For u < v we have (s-l)_+ <= g(l)/-g1(u). With L = q/p under P, whose moments the other
// direction's Rényi divergence bounds, the divergence of P from Q at log 1/s, E (s-L)_+/s, is at most N/(-s g1(u)): the
// form below. The form above with v = 0 is the conversion of Canonne, Kamath and Steinke, and for a = 2 with the best v
// of any sign it is the bound by two moments (twoMomentDelta). In place of a negative v there is the form at the end:
// g(l) = l^a + m l with m >= 0, which is at least 0 for l >= 0, has the tangent g1(u) (l - s) with g1(u) = a u^{a-1} +
// m and s = (a-1) u^a/g1(u). For u = e^r it says that the divergence is at most (e^{(a-1) r} + m)/g1(u) = 1 - s/u, for
// every s <= (1-1/a) u.
//
// A curve allows no smaller bound, up to the search's tolerance, once the lower convex hull over e^epsilon has been
// taken. For a test of P against Q, which has the probabilities p and q, is a mechanism with two outcomes, and its
// Rényi divergences are no larger. For each order and direction the (p, q) that are below the curve are a convex set.
// The forms are the half-planes around these sets, and the hull adds those around their intersection. Each (p, q) of
// the intersection is a mechanism below the curve.
type Divergences struct {
	curve Curve
	best  int          // the order that was the best
	zero  []float64    // the form above at epsilon 0 and v = 0, by order
	log   [2][]float64 // log |log u/v| that was the best, by form and order
	form  [2]halfPlane // above and below
	ended bool         // the form below won't be the best any more
}

// Divergences returns the bounds that all orders of c give.
func (c Curve) Divergences() *Divergences {
	d := &Divergences{curve: c, best: 2, form: [2]halfPlane{planeAbove, planeBelow}}
	for form := range d.log {
		d.log[form] = make([]float64, len(c))
	}
	for a, r := range c {
		d.zero = append(d.zero, logDeltaIntercept(max(a, 2), r))
	}
	return d
}

// At returns the bound at epsilon >= 0.
func (d *Divergences) At(epsilon float64) float64 {
	least := math.Inf(1)
	below := false
	try := func(a int) bool {
		better := false
		for form := range d.form {
			if form == 1 && d.ended {
				continue
			}
			if v := d.at(form, a, epsilon); v < least {
				least, better, below, d.best = v, true, form == 1, a
			}
		}
		return better
	}
	// The bounds of the orders may have two minima: the smallest with v = 0, and another with other v.
	usual := 2
	for a := 2; a <= d.curve.high(); a++ {
		if d.zero[a]-float64(a-1)*epsilon < d.zero[usual]-float64(usual-1)*epsilon {
			usual = a
		}
	}
	for _, from := range []int{d.best, usual} {
		if try(from); d.best != from {
			continue
		}
		for a := from + 1; a <= d.curve.high() && try(a); a++ {
		}
		for a := from - 1; a >= 2 && d.best <= from && try(a); a-- {
		}
	}
	d.ended = d.ended || !below && epsilon > 0
	return math.Min(1, roundedUp(math.Exp(least)))
}

// at returns the logarithm of the bound by one form and order, for the best u and v that it finds.
func (d *Divergences) at(form, a int, epsilon float64) float64 {
	y := float64(a-1) * d.curve[a] * (1 + 2*ulp)
	if math.IsInf(y, 1) {
		return y
	}
	r := d.curve[a]
	if form == 0 && epsilon <= r+math.Log1p(-1/float64(a))-0x1p-40*(1+r) { // the form at the end
		return float.Log(-math.Expm1(lowered(epsilon)-r*(1+8*ulp)) * (1 + 8*ulp))
	}
	if y > 40 && form == 0 { // then v = 0 is the best up to a rounding
		return planeAbove(a, y, epsilon, 0)
	}
	const widest, narrowest = 8, -16
	x := d.log[form][a]
	value := func(x float64) float64 { return d.form[form](a, y, epsilon, math.Exp(-math.Exp(x))) }
	v := value(x)
	for h := 1.0; h > 2e-3; h /= 4 {
		left, right := value(x-h), value(x+h)
		for left < v && x > narrowest {
			x, v, right = x-h, left, v
			left = value(x - h)
		}
		for right < v && x < widest {
			x, v, left = x+h, right, v
			right = value(x + h)
		}
		// The vertex of the parabola through the three.
		if bend := left + right - 2*v; bend > 0 {
			if to := x + h*(left-right)/2/bend; to != x {
				if w := value(to); w < v {
					x, v = to, w
				}
			}
		}
	}
	d.log[form][a] = x
	return v
}

// A halfPlane returns the logarithm, rounded up, of the bound on the divergence at epsilon by order a, of which y is
// (a-1) times the Rényi divergence, for the given ratio w < 1 of the smaller of u and v to the larger.
type halfPlane func(a int, y, epsilon, w float64) float64

func planeAbove(a int, y, epsilon, w float64) float64 {
	s := math.Exp(lowered(epsilon))
	u := s * tangent(a, w)
	v := w * u
	return boundBy(a, y, v, u, w)
}

func planeBelow(a int, y, epsilon, w float64) float64 {
	s := math.Exp(-lowered(epsilon)) // above e^-epsilon, where (s - l)_+ is larger
	v := s * tangent(a, w)
	b := boundBy(a, y, v, v, w) + epsilon
	return b + 4*ulp*(math.Abs(b)+epsilon)
}

// lowered lowers epsilon by more than the roundings of s as a function of u and v: the bounds are for the rounded u and
// v, of which s may be off by 40 roundings.
func lowered(epsilon float64) float64 { return epsilon - (1+math.Abs(epsilon))*0x1p-46 }

// tangent returns the larger of u and v over s: a/(a-1) (1 - w^{a-1})/(1 - w^a).
func tangent(a int, w float64) float64 {
	x := float64(a)
	l := math.Log(w)
	return x / (x - 1) * (math.Expm1((x-1)*l) / math.Expm1(x*l))
}

// boundBy returns log N/|g1|, rounded up, where w is the ratio of the smaller of u and v to the larger.
func boundBy(a int, y, v, larger, w float64) float64 {
	x := float64(a)
	if !(w <= 1-0x1p-24) { // too close for floats
		return math.Inf(1)
	}
	// N is e^y - 1 and 1 - v^{a-1} (1 + (a-1) (1-v)), both of them positive.
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
	l := math.Log(larger)
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
