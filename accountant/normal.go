package accountant

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// normal returns the normal form of a valid event. It describes the same mechanism, or one that dominates it and that
// it dominates. Events that describe one mechanism by different nesting have one normal form, and so the same cost.
//
// In a normal form only an empty Composed ignores its data, a draw has more than one event, a sample's rate is below 1,
// and a composition is flat: either one event, or a Composed as sequence.event returns it. Groups stay where they are;
// [spread] moves them to the steps.
func normal(e Event) Event {
	if e.free() {
		return Composed{}
	}
	switch e := e.(type) {
	case PoissonSampled:
		inner := normal(e.Event)
		if e.SamplingProbability == 1 {
			return inner
		}
		return flattened(PoissonSampled{SamplingProbability: e.SamplingProbability, Event: inner})
	case SelfComposed, Composed:
		return sequenceOf(e).event()
	case SelectBest:
		if all, ok := e.composition(); ok {
			return normal(all)
		}
		return SelectBest{Event: normal(e.Event), Repetitions: e.Repetitions}
	case MaxOver:
		all := alternativesOf(e.Events, func(e Event) ([]Event, bool) { m, ok := e.(MaxOver); return m.Events, ok })
		all = slices.CompactFunc(all, func(a, b Event) bool { return identity(a) == identity(b) })
		if len(all) == 1 {
			return all[0]
		}
		return MaxOver{Events: all}
	case Parallel:
		// Equal shards stay: the rows of a group may be in several of them.
		all := alternativesOf(e.Events, func(e Event) ([]Event, bool) { p, ok := e.(Parallel); return p.Events, ok })
		if len(all) == 1 {
			return all[0]
		}
		return Parallel{Events: all}
	case OneOf:
		return drawOf(e)
	case SubsetThenRest:
		if only := e.only(); only != nil {
			return normal(only)
		}
		return SubsetThenRest{SamplingProbability: e.SamplingProbability, Tune: normal(e.Tune), Base: normal(e.Base)}
	case GroupOf:
		inner := normal(e.Event)
		if g, ok := inner.(GroupOf); ok {
			return GroupOf{Event: g.Event, Size: g.Size * e.Size}
		}
		if e.Size == 1 {
			return inner
		}
		return GroupOf{Event: inner, Size: e.Size}
	case severalShards:
		return severalShards{Composed{Events: normals(e.Events)}}
	case severalRows:
		e.Apart.Events, e.Together.Events = normals(e.Apart.Events), normals(e.Together.Events)
		e.Alone = normal(e.Alone)
		return e
	}
	return e
}

func normals(events []Event) []Event {
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = normal(e)
	}
	return out
}

// identity returns a text that is the same for equal events only.
func identity(e Event) string { return fmt.Sprintf("%#v", e) }

// alternativesOf returns the normal forms of the events that cost something, and of those nested inside of an event of
// the same type, in the order of their identities.
func alternativesOf(events []Event, nested func(Event) ([]Event, bool)) (all []Event) {
	for _, e := range normals(events) {
		if e.free() {
			continue
		}
		if inner, ok := nested(e); ok {
			all = append(all, inner...)
		} else {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Event) int { return cmp.Compare(identity(a), identity(b)) })
	return all
}

// drawOf returns the normal form of a draw, which has each event once.
func drawOf(o OneOf) Event {
	var all draws
	all.add(o, 1, normal)
	slices.SortFunc(all, func(a, b drawnEvent) int { return cmp.Compare(a.identity, b.identity) })
	var out OneOf
	for i, d := range all {
		if i > 0 && d.identity == all[i-1].identity {
			out.Weights[len(out.Weights)-1] += d.weight
			continue
		}
		out.Events, out.Weights = append(out.Events, d.event), append(out.Weights, d.weight)
	}
	if len(out.Events) == 1 {
		return out.Events[0]
	}
	return out
}

type drawnEvent struct {
	event    Event
	identity string
	weight   float64
}

type draws []drawnEvent

// add adds the normal forms of a draw's events. The draw itself happens with the given probability.
func (d *draws) add(o OneOf, probability float64, form func(Event) Event) {
	events, probabilities := o.drawn()
	for i, e := range events {
		e = form(e)
		p := math.Max(leastProbability, probability*probabilities[i])
		if inner, ok := e.(OneOf); ok {
			d.add(inner, p, func(e Event) Event { return e })
		} else {
			*d = append(*d, drawnEvent{e, identity(e), p})
		}
	}
}

// A sequence is a composition as its bounds see it: which event comes first, and how often each takes place. Pairs and
// Rényi curves of a composition don't depend on the order of its events. But a tuning that comes first has a sharper
// bound, with one order of scores for all later events. Events before it could change its orders.
type sequence struct {
	first Event
	parts []repeated // by identity, each once
}

type repeated struct {
	event    Event
	identity string
	count    int
}

// sequenceOf returns the sequence of an event. It normalises each part once: otherwise every level of nesting would
// double the time.
func sequenceOf(e Event) sequence {
	return sequenceBy(e, func(part Event) sequence { return sequenceBy(normal(part), once) })
}

// sequenceBy composes the sequences that of returns for the parts of compositions.
func sequenceBy(e Event, of func(Event) sequence) (s sequence) {
	if e.free() {
		return s
	}
	switch e := e.(type) {
	case SelfComposed:
		return sequenceBy(e.Event, of).times(e.Count)
	case Composed:
		for _, part := range e.Events {
			s.append(sequenceBy(part, of))
		}
		return s
	}
	return of(e)
}

func once(e Event) sequence { return sequence{e, []repeated{{e, identity(e), 1}}} }

// times repeats a sequence. One that is too long to count is an event of its own.
func (s sequence) times(count int) sequence {
	for _, p := range s.parts {
		if p.count > math.MaxInt/count {
			return once(SelfComposed{Event: s.event(), Count: count})
		}
	}
	for i := range s.parts {
		s.parts[i].count *= count
	}
	return s
}

// append adds the events of later after those in s.
func (s *sequence) append(later sequence) {
	if s.first == nil {
		s.first = later.first
	}
	for _, p := range later.parts {
		i, found := slices.BinarySearchFunc(s.parts, p.identity, func(p repeated, identity string) int { return cmp.Compare(p.identity, identity) })
		switch {
		case !found:
			s.parts = slices.Insert(s.parts, i, p)
		case s.parts[i].count > math.MaxInt-p.count: // too many to count: the same event, with another identity
			s.append(sequence{parts: []repeated{{Composed{Events: []Event{p.event}}, p.identity + "'", p.count}}})
		default:
			s.parts[i].count += p.count
		}
	}
}

// event returns the composition as an event. The result begins with a tuning if and only if the sequence does. If
// another part may yet become a tuning, such as a group of one, the result begins with the sequence's first event, so
// that this also holds after [spread] has moved the groups.
func (s sequence) event() Event {
	begins := isTuning(s.first) || slices.ContainsFunc(s.parts, func(p repeated) bool { return !isTuning(p.event) && holds(p.event, isSelection) })
	var first, plain, tunings []Event
	for _, p := range s.parts {
		if begins && p.identity == identity(s.first) {
			first = append(first, p.event)
			p.count--
		}
		e := p.event
		switch {
		case p.count == 0:
			continue
		case p.count > 1:
			e = SelfComposed{Event: p.event, Count: p.count}
		}
		if isTuning(p.event) {
			tunings = append(tunings, e)
		} else {
			plain = append(plain, e)
		}
	}
	all := slices.Concat(first, plain, tunings)
	if len(all) == 1 {
		return all[0]
	}
	return Composed{Events: all}
}

func isSelection(e Event) bool { _, ok := e.(SelectBest); return ok }

// isTuning reports whether an event in normal form is the best of several trials, on all data or on a sample, perhaps
// with a final run on the rest.
func isTuning(e Event) bool {
	switch e := e.(type) {
	case SelectBest:
		return true
	case PoissonSampled:
		_, ok := e.Event.(SelectBest)
		return ok
	case SubsetThenRest:
		_, ok := e.Tune.(SelectBest)
		return ok
	}
	return false
}

// later returns the events after the tuning that a composition in normal form begins with.
func (c Composed) later() Event {
	if rest := c.Events[1:]; len(rest) != 1 {
		return Composed{Events: rest}
	}
	return c.Events[1]
}
