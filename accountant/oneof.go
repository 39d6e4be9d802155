package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// OneOf runs one of Events, drawn at random with public probabilities that are proportional to Weights and don't depend
// on the data. Nil Weights draw each with the same probability.
//
// The draw may be released with the outcome, so the event's divergence at every epsilon is the average of the
// divergences of Events, and not their maximum. That holds for a trial, whose candidate is drawn before anything is
// learnt. It doesn't hold for a run whose candidate was chosen by looking at the data, such as the final run of a
// tuning: for that use [MaxOver].
//
// Modes Tight and Best charge the average. Mode Paper charges the maximum over the events of positive weight, as the
// paper does (Lemma [param_tuning]).
type OneOf struct {
	Events  []Event
	Weights []float64 // finite and at least 0, one for each event, or nil
}

func (o OneOf) check(path string) error {
	if len(o.Events) == 0 {
		return invalid(path, "no events to draw from")
	}
	if o.Weights != nil && len(o.Weights) != len(o.Events) {
		return invalid(path, "%d weights for %d events", len(o.Weights), len(o.Events))
	}
	total := 0.0
	for i, w := range o.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return invalid(path, "weight %d is %v, not a finite number >= 0", i, w)
		}
		total += w
	}
	if o.Weights != nil && !(total > 0 && total <= math.MaxFloat64) {
		return invalid(path, "the weights add up to %v, not to a finite number > 0", total)
	}
	return checkParts(path, o.Events)
}

// weight returns the weight of an event.
func (o OneOf) weight(i int) float64 {
	if o.Weights == nil {
		return 1
	}
	return o.Weights[i]
}

// leastProbability replaces all smaller probabilities above 0, so that no mass underflows.
const leastProbability = 0x1p-200

// drawn returns the events that may be drawn, with their probabilities, which add up to 1 up to rounding.
func (o OneOf) drawn() (events []Event, probabilities []float64) {
	total := 0.0
	for i := range o.Events {
		total += o.weight(i)
	}
	for i, e := range o.Events {
		if w := o.weight(i); w > 0 {
			events = append(events, e)
			probabilities = append(probabilities, math.Max(leastProbability, w/total))
		}
	}
	return events, probabilities
}

// charged returns the events that may be drawn, with their probabilities, which add up to 1 or a little more.
func (o OneOf) charged() (events []Event, probabilities []float64) {
	events, probabilities = o.drawn()
	for i := range probabilities {
		probabilities[i] *= 1 + 0x1p-40
	}
	return events, probabilities
}

func (o OneOf) free() bool {
	events, _ := o.drawn()
	return every(events, Event.free)
}

func (o OneOf) curve(r *curves) renyi.Curve {
	events, probabilities := o.charged()
	if !r.tight {
		return r.maximum(events)
	}
	return average{events, probabilities}.curve(r)
}

func (o OneOf) pair(r *profiler) (*pld.Pair, error) {
	events, probabilities := o.charged()
	pairs, err := each(events, r.pair)
	if err != nil {
		return nil, err
	}
	d, err := pld.Mixture(pairs, probabilities)
	return r.chargeEach(d, err, len(events))
}

func (o OneOf) variance(d *deviations) float64 {
	events, _ := o.drawn()
	return d.largest(events...)
}

func (o OneOf) theorems() []string {
	events, _ := o.drawn()
	return cite("candidates drawn at random", events...)
}

// MaxOver runs one of Events, drawn at random (Lemma [param_tuning]). The distribution is public; the bound holds for
// every distribution.
type MaxOver struct {
	Events []Event
}

// Parallel splits the data into disjoint shards in a way that does not depend on the samples' values, and runs the i-th
// of Events on the i-th shard (Corollary [RDP_parallel]). A sample is in one shard only, so at every epsilon the delta
// is the maximum over the shards. That holds for runs which depend on other runs' releases, and for a random split that
// draws each sample's shard by itself.
type Parallel struct {
	Events []Event
}

// alternatives is implemented by events that cost as much as the costliest of several events.
type alternatives interface{ alternatives() []Event }

func (m MaxOver) alternatives() []Event  { return m.Events }
func (p Parallel) alternatives() []Event { return p.Events }

func (m MaxOver) check(path string) error {
	if len(m.Events) == 0 {
		return invalid(path, "no candidates")
	}
	return checkParts(path, m.Events)
}

func (p Parallel) check(path string) error {
	if len(p.Events) == 0 {
		return invalid(path, "no shards")
	}
	return checkParts(path, p.Events)
}

func (m MaxOver) free() bool  { return every(m.Events, Event.free) }
func (p Parallel) free() bool { return every(p.Events, Event.free) }

func (m MaxOver) curve(r *curves) renyi.Curve  { return r.maximum(m.Events) }
func (p Parallel) curve(r *curves) renyi.Curve { return r.maximum(p.Events) }

func (m MaxOver) pair(r *profiler) (*pld.Pair, error)  { return r.maximum(m.Events) }
func (p Parallel) pair(r *profiler) (*pld.Pair, error) { return r.maximum(p.Events) }

func (m MaxOver) profile(r *profiler) (profile, error)  { return r.largest(m.Events) }
func (p Parallel) profile(r *profiler) (profile, error) { return r.largest(p.Events) }

func (m MaxOver) variance(d *deviations) float64  { return d.largest(m.Events...) }
func (p Parallel) variance(d *deviations) float64 { return d.largest(p.Events...) }

func (m MaxOver) theorems() []string  { return cite("maximum over candidates", m.Events...) }
func (p Parallel) theorems() []string { return cite("parallel composition", p.Events...) }
