package accountant

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// An Event is an immutable value that describes what a mechanism does with the data. It holds no cost: call Epsilon,
// Delta or RDP for that. The set of events is closed: Gaussian, RDPLine, PoissonSampled, SelfComposed, Composed,
// SelectBest, MaxOver, OneOf, SubsetThenRest, Parallel and GroupOf. Functions refuse a pointer to one of them.
//
// An event says nothing of the neighbouring relation, except by a GroupOf: [Options] name it.
//
// An event that holds a list shares it with the caller that made the event. The caller must not change the list while a
// function reads the event, nor later if the event is to describe what was done. Functions of this package neither
// change nor keep a list, so their results don't change with it.
type Event interface {
	// check reports the first invalid value of the event or of a part of it; path names the event for the error.
	check(path string) error
	// free reports whether the event provably ignores its data. Every other event contains, or may contain, a release
	// with Gaussian noise, which no finite epsilon covers at delta 0.
	free() bool
	// curve returns the event's Rényi curve, by one theorem for each kind of event.
	curve(r *curves) renyi.Curve
	// pair returns a pair that dominates the event. Call [profiler.pair] instead, which computes each pair once.
	pair(r *profiler) (*pld.Pair, error)
	// variance estimates the variance of the event's privacy loss. It passes parts that are compositions of their own
	// to d.whole.
	variance(d *deviations) float64
	// theorems returns the names of the theorems that curve uses, outermost first, without repeats.
	theorems() []string
}

// known reports whether e has one of the event types. A pointer to an event and a type that embeds one don't count.
func known(e Event) bool {
	switch e.(type) {
	case Gaussian, RDPLine, PoissonSampled, SelfComposed, Composed, SelectBest, MaxOver, OneOf, SubsetThenRest, Parallel, GroupOf:
		return true
	}
	return false
}

// every reports whether all events have a property.
func every(events []Event, has func(Event) bool) bool {
	return !slices.ContainsFunc(events, func(part Event) bool { return !has(part) })
}

// cite returns a theorem's name, if any, and the names that the parts cite, without repeats.
func cite(theorem string, parts ...Event) (names []string) {
	if theorem != "" {
		names = append(names, theorem)
	}
	for _, part := range parts {
		for _, n := range part.theorems() {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// Gaussian releases a sum of vectors, one from each sample and of L2 norm at most C, with Gaussian noise of standard
// deviation NoiseMultiplier·C in every coordinate. A NoiseMultiplier of 0 is a release without noise: its epsilon is
// infinite.
type Gaussian struct {
	NoiseMultiplier float64
}

func (g Gaussian) check(path string) error {
	if !(g.NoiseMultiplier >= 0) || math.IsInf(g.NoiseMultiplier, 1) {
		return invalid(path, "noise multiplier %v is not a finite number >= 0", g.NoiseMultiplier)
	}
	return nil
}

func (Gaussian) free() bool { return false }

func (g Gaussian) curve(r *curves) renyi.Curve { return renyi.Gaussian(g.NoiseMultiplier, r.high) }

func (g Gaussian) pair(r *profiler) (*pld.Pair, error) {
	return r.gaussians(sampledStep{1, g.NoiseMultiplier, 1}, 1)
}

func (g Gaussian) variance(*deviations) float64 { return 1 / g.NoiseMultiplier / g.NoiseMultiplier }

func (Gaussian) theorems() []string { return []string{"Gaussian mechanism"} }
