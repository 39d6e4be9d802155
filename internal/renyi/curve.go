package renyi

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/float"
)

// A Curve bounds the Rényi divergence at integer orders: c[a] is the value at order a, in nats, for a from 2 to
// len(c)-1. Entries 0 and 1 are 0 and aren't divergences: in every theorem the factor of order 1 is 0.
type Curve []float64

// ulp is twice the rounding error of one operation: a value times 1+ulp is at least the value before rounding.
const ulp = 0x1p-52

// roundedUp raises the result of a few operations by more than their rounding, subnormal or not. In exact arithmetic
// the result must be above 0; it doesn't underflow to 0.
func roundedUp(x float64) float64 { return x*(1+8*ulp) + 8*math.SmallestNonzeroFloat64 }

// NewCurve returns the curve of a mechanism that ignores its data, up to order high.
func NewCurve(high int) Curve { return make(Curve, high+1) }

func (c Curve) high() int { return len(c) - 1 }

// moments returns max(i+shift-1, 0)·c(i+shift) at index i = 0..high; the last shift entries are 0 and never used.
func (c Curve) moments(shift int) []float64 {
	x := make([]float64, len(c))
	for a := 2; a < len(c); a++ {
		x[a-shift] = float64(a-1) * c[a]
	}
	return x
}

// Times returns the curve of n adaptive runs of a mechanism with curve c.
func (c Curve) Times(n int) Curve {
	t := NewCurve(c.high())
	if n == 0 {
		return t // even where c is infinite
	}
	for a := range c {
		t[a] = float64(n) * c[a] * (1 + ulp)
	}
	return t
}

func (c Curve) zero() bool {
	return !slices.ContainsFunc(c, func(r float64) bool { return r != 0 })
}

// Sum returns the curve of an adaptive composition.
func Sum(x, y Curve) Curve {
	return combine(x, y, func(a, b float64) float64 { return (a + b) * (1 + ulp) })
}

// Maximum returns the pointwise maximum: the curve of a candidate drawn at random from two, and of two mechanisms on
// disjoint shards.
func Maximum(x, y Curve) Curve { return combine(x, y, math.Max) }

// Minimum returns the pointwise minimum: the curve of a mechanism that two curves bound.
func Minimum(x, y Curve) Curve { return combine(x, y, math.Min) }

func combine(x, y Curve, f func(a, b float64) float64) Curve {
	z := NewCurve(x.high())
	for a := range z {
		z[a] = f(x[a], y[a])
	}
	return z
}

// Convexified returns c lowered to the lower convex hull of (0, 0) and the points (a-1, (a-1) c(a)) at the orders a of
// o. The hull is a bound, because (a-1) times a Rényi divergence is convex in a and 0 at a = 1.
func (c Curve) Convexified(o Orders) Curve {
	type point struct{ x, y float64 }
	hull := []point{{}}
	for a := o.Low; a <= min(o.High, c.high()); a++ {
		p := point{float64(a - 1), float64(a-1) * c[a]}
		if math.IsInf(p.y, 1) {
			break
		}
		for len(hull) > 1 {
			u, v := hull[len(hull)-2], hull[len(hull)-1]
			if (v.y-u.y)*(p.x-u.x) < (p.y-u.y)*(v.x-u.x) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	tight := NewCurve(c.high())
	copy(tight, c)
	for i := 1; i < len(hull); i++ {
		u, v := hull[i-1], hull[i]
		for x := u.x + 1; x < v.x; x++ {
			y := u.y + (v.y-u.y)*((x-u.x)/(v.x-u.x))
			tight[int(x)+1] = math.Min(tight[int(x)+1], y/x*(1+8*ulp))
		}
	}
	return tight
}

// MaxOrder is the largest order that a curve may have.
const MaxOrder = 1024

// Orders are the integer orders Low to High, both included, 2 <= Low <= High <= MaxOrder.
type Orders struct {
	Low, High int
}

// Line returns a curve with the value slope·a at every order a of o. Below o.Low it is the value at o.Low, since
// divergences grow with the order; above o.High it is +Inf, or 0 if slope is 0. Line raises the values by more than the
// rounding of a slope that was computed from a curve, so that a mechanism fitted to the line by its slope isn't above
// it.
func Line(slope float64, o Orders, high int) Curve {
	c := NewCurve(high)
	if slope == 0 {
		return c // the same laws with and without a sample, so at every order
	}
	for a := 2; a <= high; a++ {
		c[a] = math.Inf(1)
		if a <= o.High {
			c[a] = roundedUp(slope * float64(max(a, o.Low)))
		}
	}
	return c
}

// Average returns the curve of one of several mechanisms, drawn at random with the given weights, whose outcomes
// without the unit have one law: log(sum of w e^{(a-1) c(a)})/(a-1), since e^{(a-1) D_a} is jointly convex.
func Average(curves []Curve, weights []float64) Curve {
	c := NewCurve(curves[0].high())
	for a := 2; a <= c.high(); a++ {
		logSum, size := math.Inf(-1), 0.0
		for i, x := range curves {
			// log(1 + sum w (e^x - 1)), so that little cancels
			y := float64(a-1) * x[a]
			size = math.Max(size, y)
			if y > 0 {
				logSum = logAdd(logSum, float.Log(weights[i])+logExpm1(y))
			}
		}
		if math.IsInf(size, 1) {
			c[a] = math.Inf(1)
			continue
		}
		c[a] = mixtureDivergence(logSum+(size+40)*(16+float64(len(curves)))*0x1p-53, a)
	}
	return c
}
