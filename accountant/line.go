package accountant

import (
	"errors"
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// RDPLine is any mechanism with a Rényi divergence of at most Slope·a at every order a of Orders, in both directions.
// Random search fixes the line before it draws a candidate, and then fits the candidate's noise or steps to the line
// ([random_search], CalibrateNoiseToLine, CalibrateStepsToLine). Zero Orders mean 2 to 256.
//
// At orders above Orders its curve is infinite, even if the options have higher orders. Below Orders it is that at
// Orders.Low, since divergences grow with the order. An RDPLine has no privacy-loss distribution, so mode [Best] bounds
// an event that contains one by Rényi divergences alone.
type RDPLine struct {
	Slope  float64
	Orders Orders
}

func (l RDPLine) orders() Orders {
	if l.Orders == (Orders{}) {
		return defaultOrders
	}
	return l.Orders
}

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

func (RDPLine) run() bool { return false }

func (l RDPLine) curve(r *curves) renyi.Curve {
	return renyi.Line(l.Slope, renyi.Orders(l.orders()), r.high)
}

// errNoPair reports an event that is known by its Rényi divergences alone.
var errNoPair = errors.New("no privacy-loss distribution")

func (RDPLine) pair(*profiler) (*pld.Pair, error) { return nil, errNoPair }

func (RDPLine) variance(*deviations) float64 { return 0 }

func (RDPLine) theorems() []string { return []string{"line above RDP"} }
