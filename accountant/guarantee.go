package accountant

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Neighbours is the relation between datasets under which a guarantee holds.
type Neighbours string

const (
	// AddRemove relates datasets that differ by one sample, added or removed.
	AddRemove Neighbours = "add-or-remove-one"
	// ReplaceOne relates datasets of the same size that differ by one sample, which another takes the place of. Two
	// samples that differ count here, and only one in AddRemove: no bound for one relation is a multiple of the
	// other's.
	ReplaceOne Neighbours = "replace-one"
	// ZeroOut relates datasets of the same size that differ by one sample, which in one of them counts for nothing. All
	// bounds for AddRemove hold, with the same proofs, and they are the bounds for ZeroOut.
	ZeroOut Neighbours = "zero-out-one"

	// AddRemoveUnit, ReplaceUnit and ZeroOutUnit are the same for all samples of one unit together: at most the Size of
	// the event's [GroupOf].
	AddRemoveUnit Neighbours = "add-or-remove-unit"
	ReplaceUnit   Neighbours = "replace-unit"
	ZeroOutUnit   Neighbours = "zero-out-unit"
)

// unit returns the relation for units of several samples.
func (n Neighbours) unit() Neighbours {
	return Neighbours(strings.TrimSuffix(string(n), "one") + "unit")
}

// Mode chooses among the bounds that hold for an event.
type Mode string

const (
	// Paper uses the theorems as the paper prints them, corrected where they are false (see the package comment).
	Paper Mode = "paper"
	// Tight adds sharper forms of the same Rényi bounds.
	Tight Mode = "tight"
	// Best takes the smallest of all bounds of this package, privacy-loss distributions included.
	Best Mode = "best"
)

// Options choose the analysis. The zero value is mode Best with orders 2 to 256, for neighbours by AddRemove.
type Options struct {
	Mode       Mode // "" means Best
	Orders     Orders
	Neighbours Neighbours // AddRemove, ReplaceOne or ZeroOut; "" means AddRemove
}

func (o Options) mode() Mode { return cmp.Or(o.Mode, Best) }

// in returns o with another mode.
func (o Options) in(m Mode) Options {
	o.Mode = m
	return o
}

func (o Options) check() (Options, error) {
	o.Mode = o.mode()
	if o.Mode != Paper && o.Mode != Tight && o.Mode != Best {
		return o, fmt.Errorf("%w mode %q: use %s, %s or %s", ErrInvalid, o.Mode, Paper, Tight, Best)
	}
	if o.Neighbours = cmp.Or(o.Neighbours, AddRemove); o.Neighbours != AddRemove && o.Neighbours != ReplaceOne && o.Neighbours != ZeroOut {
		return o, fmt.Errorf("%w neighbours %q: use %s, %s or %s", ErrInvalid, o.Neighbours, AddRemove, ReplaceOne, ZeroOut)
	}
	var err error
	o.Orders, err = o.Orders.check()
	return o, err
}

// A Guarantee states (Epsilon, Delta)-differential privacy and its source.
type Guarantee struct {
	Epsilon, Delta float64
	Order          int        // the Rényi order of the conversion; 0 where the bound has none
	Mode           Mode       // the mode that was asked for
	Bound          string     // the theorems that gave it, in words
	Neighbours     Neighbours // of the options, for a unit if the event has a GroupOf of several rows
}

// Epsilon returns the guarantee with the smallest epsilon at delta, in [0, 1], by the mode's bounds. Epsilon is +Inf if
// no finite one is known. At delta 0 this is so for every event that costs anything, because none has pure differential
// privacy.
func Epsilon(e Event, delta float64, o Options) (Guarantee, error) {
	if err := checkDelta(delta); err != nil {
		return Guarantee{}, err
	}
	if delta == 0 && Validate(e) == nil && !e.free() {
		o, err := o.check()
		return Guarantee{Epsilon: math.Inf(1), Bound: "no finite epsilon at delta 0"}.in(o, e), err
	}
	return smallest(e, o, delta, func(b bound) Guarantee { return b.epsilon(delta) }, func(g Guarantee) float64 { return g.Epsilon })
}

// Delta returns the guarantee with the smallest delta at epsilon >= 0, by the mode's bounds. Delta is 0 only for an
// event that costs nothing. If the bound is too small for a float64, Delta is the smallest positive float64.
func Delta(e Event, epsilon float64, o Options) (Guarantee, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Guarantee{}, err
	}
	// Bounds are sharp about a delta: guess it, until the guess is near the result. Far below it bounds can be far too
	// high.
	const usual, about, far, most = 1e-5, 0.5, 1e-6, 10
	g := Guarantee{Delta: math.Inf(1)}
	var err error
	for guess, passes := usual, 0; passes < most; passes++ {
		var next Guarantee
		next, err = smallest(e, o, guess, func(b bound) Guarantee { return b.delta(epsilon) }, func(g Guarantee) float64 { return g.Delta })
		if next.Delta < g.Delta || err != nil {
			g = next
		}
		if err != nil || g.Delta >= guess*about || guess < leastDelta || o.mode() != Best || e.free() {
			break
		}
		if g.Delta > guess*far {
			guess = g.Delta
		} else {
			guess *= guess
		}
	}
	if err == nil && g.Delta == 0 && !e.free() {
		g.Delta = math.SmallestNonzeroFloat64
	}
	return g, err
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta <= 1) {
		return fmt.Errorf("%w delta %v: outside [0, 1]", ErrInvalid, delta)
	}
	return nil
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return fmt.Errorf("%w epsilon %v: not a finite number >= 0", ErrInvalid, epsilon)
	}
	return nil
}
