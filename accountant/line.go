package accountant

import (
	"cmp"
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// RDPLine is any mechanism with a Rényi divergence of at most Slope·a at every order a of Orders, in both directions.
// Random search fixes the line before it draws a candidate, and then fits the candidate's noise or steps to the line
// ([random_search], CalibrateNoiseToLine, CalibrateStepsToLine). Zero Orders mean 2 to 256.
//
// At orders above Orders its curve is infinite, even if the options have higher orders. Below Orders it is the value at
// Orders.Low, since divergences grow with the order. In mode [Best] a line has the worst privacy-loss distribution that
// the divergences at its orders allow in both directions: at each epsilon some mechanism below the line has its delta.
type RDPLine struct {
	Slope  float64
	Orders Orders
}

func (l RDPLine) orders() Orders { return cmp.Or(l.Orders, defaultOrders) }

func (l RDPLine) check(path string) error {
	if !(l.Slope >= 0) || math.IsInf(l.Slope, 1) {
		return invalid(path, "slope %v is not a finite number >= 0", l.Slope)
	}
	if _, err := l.Orders.check(); err != nil {
		return &EventError{Path: path, Err: err}
	}
	return nil
}

func (l RDPLine) free() bool { return l.Slope == 0 } // a divergence of 0 at one order leaves no difference

func (l RDPLine) curve(r *curves) renyi.Curve {
	return renyi.Line(l.Slope, renyi.Orders(l.orders()), r.high)
}

func (l RDPLine) pair(r *profiler) (*pld.Pair, error) {
	if r.replaced {
		d, err := r.added.pair(l)
		if err != nil {
			return nil, err
		}
		return pld.Replaced(d)
	}
	return pld.Bounded(r.grid, l.curve(newCurves(Options{Orders: l.orders()})).Divergences().At)
}

// belowCurve lowers d, the pair of an event made from a line and other events, to the divergences that the event's
// Rényi curve allows. At each epsilon the pair of a line has the delta of the worst mechanism below the line, and
// another mechanism at another epsilon. So a composition of such pairs may cost more than the sum of the curves.
func (r *profiler) belowCurve(d *pld.Pair, e Event) (*pld.Pair, error) {
	o := Options{Mode: Best, Orders: defaultOrders}
	c := newCurves(o)
	c.losses = r
	allowed, err := pld.Bounded(r.grid, e.curve(c).Divergences().At)
	if err != nil {
		return d, nil // the curve's divergences fall so slowly that the grid doesn't hold them
	}
	return pld.Minimum(d, allowed)
}

// variance returns the variance of the Gaussian mechanism whose Rényi curve is the line.
func (l RDPLine) variance(*deviations) float64 { return 2 * l.Slope }

func (RDPLine) theorems() []string { return []string{"line above RDP"} }
