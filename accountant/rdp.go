package accountant

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/renyi"
)

// A Curve holds a bound on the Rényi divergence at integer orders: c[a] is the value at order a, in nats, for a from 2
// to len(c)-1. Entries 0 and 1 are always 0 and aren't divergences.
type Curve []float64

// Slope returns the smallest s with c[a] <= s·a at every order of o that the curve has. It is the slope of the line in
// the paper's random search ([random_search]). A zero o means orders 2 to 256.
func (c Curve) Slope(o Orders) float64 {
	o = cmp.Or(o, defaultOrders)
	s := 0.0
	for a := o.Low; a <= min(o.High, len(c)-1); a++ {
		s = math.Max(s, c[a]/float64(a))
	}
	return s
}

// RDP returns the Rényi curve of e at orders 2 to o.Orders.High. There is none for [ReplaceOne], which is an error that
// wraps [ErrInvalid].
func RDP(e Event, o Options) (Curve, error) {
	if err := Validate(e); err != nil {
		return nil, err
	}
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if o.Neighbours == ReplaceOne {
		return nil, fmt.Errorf("%w neighbours %q: only %s and %s have a Rényi curve", ErrInvalid, o.Neighbours, AddRemove, ZeroOut)
	}
	e, _ = prepared(e)
	return Curve(e.curve(newCurves(o))), nil
}

// curves is the Rényi accountant: the settings and the memory that the events' theorems share.
type curves struct {
	orders Orders
	high   int // the largest order
	tight  bool
	steps  map[sampledStep]renyi.Curve // seen so far
	losses *profiler                   // for a sharper deltaHat, if not nil
}

func newCurves(o Options) *curves {
	return &curves{orders: o.Orders, high: o.Orders.High, tight: o.Mode != Paper, steps: map[sampledStep]renyi.Curve{}}
}

// step returns the curve of one step of DP-SGD.
func (r *curves) step(s sampledStep) renyi.Curve {
	c, seen := r.steps[s]
	if !seen {
		c = renyi.Rows(s.rate, s.noise, s.rows, r.high)
		r.steps[s] = c
	}
	return c
}

func (r *curves) maximum(events []Event) renyi.Curve {
	c := renyi.NewCurve(r.high)
	for _, e := range events {
		c = renyi.Maximum(c, e.curve(r))
	}
	return c
}

// deltaHat bounds the delta of e at renyi.EpsilonHat(a), at index a. For candidates of different costs it is the
// largest of their deltas, which can be smaller than the delta of the maximum of their curves.
func (r *curves) deltaHat(e Event) []float64 {
	if o, ok := e.(OneOf); ok {
		return r.drawnDeltaHat(o)
	}
	several, ok := e.(alternatives)
	if !ok {
		hat := e.curve(r).DeltaHat(renyi.Orders(r.orders), r.tight)
		if r.losses != nil {
			r.losses.lower(hat, e)
		}
		return hat
	}
	hat := make([]float64, r.high+1)
	for _, c := range several.alternatives() {
		for a, d := range r.deltaHat(c) {
			hat[a] = math.Max(hat[a], d)
		}
	}
	return hat
}

// drawnDeltaHat is deltaHat for candidates that are drawn at random: the average of their deltas, or the largest in
// mode Paper.
func (r *curves) drawnDeltaHat(o OneOf) []float64 {
	events, probabilities := o.charged()
	if !r.tight {
		return r.deltaHat(MaxOver{Events: events})
	}
	hat := make([]float64, r.high+1)
	for i, e := range events {
		for a, d := range r.deltaHat(e) {
			hat[a] += probabilities[i] * d
		}
	}
	for a := range hat {
		hat[a] *= 1 + 0x1p-40
	}
	return hat
}

// describe names a bound, for people.
func describe(method string, e Event) string {
	return method + ": " + strings.Join(e.theorems(), ", ")
}

// MaxOrder is the largest Rényi order that Orders may hold, 1024.
const MaxOrder = renyi.MaxOrder

// Orders are the integer Rényi orders Low to High, both included. The zero value means 2 to 256. The same orders are
// used in all parts of a computation: deltaHat, convexification and the final conversion. Theorems with sums over
// smaller orders always sum from order 2, even if Low is larger.
type Orders struct {
	Low, High int
}

var defaultOrders = Orders{Low: 2, High: 256}

func (o Orders) check() (Orders, error) {
	o = cmp.Or(o, defaultOrders)
	if o.Low < 2 || o.High < o.Low || o.High > MaxOrder {
		return o, fmt.Errorf("%w orders %d to %d: want 2 <= low <= high <= %d", ErrInvalid, o.Low, o.High, MaxOrder)
	}
	return o, nil
}
