package accountant

import (
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// An Event describes what a mechanism did with the data, as an immutable value. It says nothing about its cost: that is
// what Epsilon, Delta and RDP are for. The set of events is closed; every one of them is listed in this file.
//
// All events share one neighbouring relation, AddRemove.
//
// Events that hold a list are made as plain literals and share it with their maker, who changes it neither while a
// function reads the event nor as long as the event is the record of what was done. Functions of this package change
// no list and keep none: what they returned doesn't change with it.
type Event interface {
	// check reports the first invalid value of the event or of a part of it; path names the event for the error.
	check(path string) error
	// free reports whether the event provably ignores its data. Every other event has, or may have, a release with
	// Gaussian noise in it, which no finite epsilon covers at delta 0.
	free() bool
	// run reports whether the event is a training run, or a choice among several.
	run() bool
	// curve returns the event's Rényi curve, by one theorem for each kind of event.
	curve(r *curves) renyi.Curve
	// pair returns a pair that dominates the event. Callers ask [profiler.pair], which knows pairs that it had before.
	pair(r *profiler) (*pld.Pair, error)
	// variance estimates the variance of the event's privacy loss, and reports the parts of it that have a grid to
	// themselves to d.
	variance(d *deviations) float64
	// theorems names what curve uses, outermost first, without repeats.
	theorems() []string
}

// known reports whether e is of one of the types of events, as a value: a pointer to one, or a type that embeds one, is
// none.
func known(e Event) bool {
	switch e.(type) {
	case Gaussian, RDPLine, PoissonSampled, SelfComposed, Composed, SelectBest, MaxOver, SubsetThenRest, Parallel:
		return true
	}
	return false
}

// every reports whether all events have a property.
func every(events []Event, has func(Event) bool) bool {
	return !slices.ContainsFunc(events, func(part Event) bool { return !has(part) })
}

// cite returns a theorem's name, if any, and the names of all that the parts use, without repeats.
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
