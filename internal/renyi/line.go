package renyi

import "math"

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
