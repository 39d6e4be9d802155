package accountant

import "math"

// lineCurve is the promise of an RDPLine. It is raised by more than the rounding of Curve.Slope, so that a mechanism that
// was fitted to the line by its slope is not above the curve.
func lineCurve(l RDPLine, high int) Curve {
	c := newCurve(high)
	if l.Slope == 0 {
		return c // the same laws with and without a sample, so at every order
	}
	o := l.orders()
	for a := 2; a <= high; a++ {
		c[a] = math.Inf(1)
		if a <= o.High {
			c[a] = roundedUp(l.Slope * float64(max(a, o.Low)))
		}
	}
	return c
}

func (l RDPLine) orders() Orders {
	if l.Orders == (Orders{}) {
		return defaultOrders
	}
	return l.Orders
}
