package renyi

import "math"

// Line returns the curve that promises slope·a at every order a of o: below o.Low the value at o.Low, since divergences
// grow with the order, and above o.High nothing. It is raised by more than the rounding of a slope taken from a curve,
// so that a mechanism that was fitted to the line by its slope is not above it.
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
