package accountant

import "slices"

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
}

// Gaussian is one release of a sum of vectors of norm at most C with Gaussian noise of standard deviation
// NoiseMultiplier·C in every coordinate. A NoiseMultiplier of 0 is a release without noise: its epsilon is infinite.
type Gaussian struct {
	NoiseMultiplier float64
}

// RDPLine is any mechanism with a Rényi divergence of at most Slope·a at every order a of Orders, in both directions: what
// random search promises before it draws a candidate and fits its noise or steps to the promise ([random_search],
// CalibrateNoiseToLine, CalibrateStepsToLine). Zero Orders mean 2 to 256.
//
// Nothing is promised above Orders: there its curve is infinite, whatever the orders of the options. Below them its
// divergence is at most that at Orders.Low, since divergences grow with the order. It has no privacy-loss distribution, so
// mode Best bounds a plan that contains it by Rényi divergences.
type RDPLine struct {
	Slope  float64
	Orders Orders
}

// PoissonSampled runs Event on a random subset that keeps every sample independently with SamplingProbability.
type PoissonSampled struct {
	SamplingProbability float64
	Event               Event
}

// SelfComposed runs Event Count times, adaptively.
type SelfComposed struct {
	Event Event
	Count int
}

// Composed runs Events one after another, adaptively, on the same data.
type Composed struct {
	Events []Event
}

// SelectBest draws K from Repetitions, runs Event K times and releases the best outcome alone (Papernot and Steinke,
// [main_rdp_poisson]). With K = 0 it releases an answer that does not depend on the data. Neither K nor the losing
// outcomes are released.
type SelectBest struct {
	Event       Event
	Repetitions Repetitions
}

// MaxOver runs one of Events, drawn at random from a public distribution that this value need not know
// (Lemma [param_tuning]).
type MaxOver struct {
	Events []Event
}

// SubsetThenRest keeps every sample for X1 independently with SamplingProbability, runs Tune on X1 and then Base, which
// may depend on Tune's outcome, on the samples that are not in X1: variant 1, Theorem [strategy1_rdp1].
type SubsetThenRest struct {
	SamplingProbability float64
	Tune, Base          Event
}

// Parallel splits the data into disjoint shards in a way that does not depend on the samples' values, and runs the i-th
// of Events on the i-th shard (Corollary [RDP_parallel]).
type Parallel struct {
	Events []Event
}

// every reports whether all events have a property.
func every(events []Event, has func(Event) bool) bool {
	return !slices.ContainsFunc(events, func(part Event) bool { return !has(part) })
}

// free reports whether e provably ignores its data. Anything else has, or may have, a release with Gaussian noise in it,
// which no finite epsilon covers at delta 0.
func free(e Event) bool {
	switch e := e.(type) {
	case RDPLine:
		return e.Slope == 0 // a divergence of 0 at one order leaves no difference
	case PoissonSampled:
		return e.SamplingProbability == 0 || free(e.Event)
	case SelfComposed:
		return e.Count == 0 || free(e.Event)
	case Composed:
		return every(e.Events, free)
	case SelectBest:
		return free(e.Event)
	case MaxOver:
		return every(e.Events, free)
	case Parallel:
		return every(e.Events, free)
	case SubsetThenRest:
		return (e.SamplingProbability == 0 || free(e.Tune)) && (e.SamplingProbability == 1 || free(e.Base))
	}
	return false
}

// DPSGD is a whole training run: steps adaptive releases of a clipped gradient sum over Poisson-sampled batches.
// The sampling rate is the expected batch size over the number of samples; noiseMultiplier is relative to the clipping
// norm. DP-Adam and any other post-processing of the noisy gradients cost the same.
func DPSGD(samplingRate, noiseMultiplier float64, steps int) Event {
	return SelfComposed{Event: PoissonSampled{SamplingProbability: samplingRate, Event: Gaussian{NoiseMultiplier: noiseMultiplier}}, Count: steps}
}

// Variant1 tunes on a random subset of rate q and trains the final model on the rest; r is the distribution of the
// number of trials and base the cost of one training run (the same noise multiplier, sampling rate and number of steps
// serve the trials and the final run).
func Variant1(q float64, r Repetitions, base Event) Event {
	return SubsetThenRest{SamplingProbability: q, Tune: SelectBest{Event: base, Repetitions: r}, Base: base}
}

// Variant2 tunes on a random subset of rate q and trains the final model on all of the data.
func Variant2(q float64, r Repetitions, base Event) Event {
	return Composed{Events: []Event{
		PoissonSampled{SamplingProbability: q, Event: SelectBest{Event: base, Repetitions: r}},
		base,
	}}
}

// Baseline tunes on all of the data and releases the best model that the tuning trained.
func Baseline(r Repetitions, base Event) Event {
	return SelectBest{Event: base, Repetitions: r}
}
