package accountant

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// MaxRows is the largest Size of a [GroupOf].
const MaxRows = 128

// GroupOf is Event for a unit of up to Size samples, for example all rows of one person: neighbours differ by all of
// the unit's samples together, added or removed. Size 1 is Event itself, and a group of groups is a group of the
// product.
//
// Its bound is never Size times the cost of Event, which would need a much larger delta. Instead every part of Event
// has its own bound for Size rows:
//
//   - A Poisson-sampled Gaussian step by the mixture of N(k, s^2) against N(0, s^2), k ~ Binomial(Size, rate): the
//     rows are sampled one by one, and the worst is that all their gradients point in one direction. A Gaussian step on
//     all data has Size times the sensitivity.
//   - Compositions, maxima and the best of several runs by the bounds of their parts.
//   - A Poisson sample, other than of a step, and [SubsetThenRest] by an average over J, the number of rows in the
//     sample, given that there are any: see docs/proofs/bounds.md, "Several rows of one unit".
//   - The rows may be in different shards of [Parallel]: it costs at most the composition of its events.
//
// An [RDPLine] inside is an error that wraps [ErrInvalid], unless Size is 1: a line bounds one sample alone.
type GroupOf struct {
	Event Event
	Size  int
}

func (g GroupOf) check(path string) error {
	if g.Size < 1 || g.Size > MaxRows {
		return invalid(path, "size %d is not a whole number from 1 to %d", g.Size, MaxRows)
	}
	if err := checkPart(path+".Event", g.Event); err != nil {
		return err
	}
	if g.Size > 1 {
		if rows := largestGroup(g, 1); rows > MaxRows {
			return invalid(path, "groups of groups of %d rows together: more than %d", rows, MaxRows)
		}
		if holds(g.Event, isLine) {
			return invalid(path, "an RDPLine bounds the cost of one sample; there is no bound for %d", g.Size)
		}
	}
	return nil
}

// largestGroup returns the largest number of rows that nested groups have together, or the first one above MaxRows.
// rows is the number of the groups around e.
func largestGroup(e Event, rows int) int {
	if g, ok := e.(GroupOf); ok {
		rows *= g.Size
	}
	most := rows
	for _, part := range parts(e) {
		if most > MaxRows {
			break
		}
		most = max(most, largestGroup(part, rows))
	}
	return most
}

// parts returns the events directly inside e.
func parts(e Event) []Event {
	switch e := e.(type) {
	case PoissonSampled:
		return []Event{e.Event}
	case SelfComposed:
		return []Event{e.Event}
	case Composed:
		return e.Events
	case SelectBest:
		return []Event{e.Event}
	case MaxOver:
		return e.Events
	case OneOf:
		return e.Events
	case SubsetThenRest:
		return []Event{e.Tune, e.Base}
	case Parallel:
		return e.Events
	case GroupOf:
		return []Event{e.Event}
	}
	return nil
}

// holds reports whether e or a part of it has a property.
func holds(e Event, has func(Event) bool) bool {
	return has(e) || slices.ContainsFunc(parts(e), func(part Event) bool { return holds(part, has) })
}

// grouped reports whether neighbours of e differ by several samples.
func grouped(e Event) bool {
	return holds(e, func(e Event) bool { g, ok := e.(GroupOf); return ok && g.Size > 1 })
}

// spread returns an event of the same cost in which groups contain Poisson-sampled Gaussian steps alone. e is valid.
// exact is false if the result is only a bound on e's cost.
func spread(e Event) (out Event, exact bool) {
	if !holds(e, isGroup) {
		return e, true
	}
	s := spreading{exact: true}
	return s.rows(e, 1), s.exact
}

func isGroup(e Event) bool { _, ok := e.(GroupOf); return ok }

func isLine(e Event) bool { _, ok := e.(RDPLine); return ok }

type spreading struct{ exact bool }

// rows returns e for units of n rows.
func (s *spreading) rows(e Event, n int) Event {
	switch e := e.(type) {
	case GroupOf:
		return s.rows(e.Event, n*e.Size)
	case SelfComposed:
		return SelfComposed{Event: s.rows(e.Event, n), Count: e.Count}
	case Composed:
		if tune, ok := sampledFirst(e); ok && n > 1 {
			return s.sampled(e, tune.SamplingProbability, tune.Event, e.later(), false, n)
		}
		return Composed{Events: s.all(e.Events, n)}
	case SelectBest:
		return SelectBest{Event: s.rows(e.Event, n), Repetitions: e.Repetitions}
	case MaxOver:
		return MaxOver{Events: s.all(e.Events, n)}
	case OneOf:
		return OneOf{Events: s.all(e.Events, n), Weights: e.Weights}
	}
	if n == 1 {
		return s.one(e)
	}
	switch e := e.(type) {
	case Gaussian:
		return Gaussian{NoiseMultiplier: e.NoiseMultiplier / float64(n) * (1 - 0x1p-52)}
	case PoissonSampled:
		if step, ok := gaussianStep(e); ok && step.rows == 1 {
			if step.rate == 1 {
				return s.rows(Gaussian{NoiseMultiplier: step.noise}, n)
			}
			return GroupOf{Event: flattened(e), Size: n}
		}
		e = flattened(e)
		return s.sampled(e, e.SamplingProbability, e.Event, nil, false, n)
	case SubsetThenRest:
		return s.sampled(e, e.SamplingProbability, e.Tune, e.Base, true, n)
	case Parallel:
		s.exact = false
		return severalShards{Composed{Events: s.all(e.Events, n)}}
	}
	return e
}

// sampledFirst returns the first of several events if it is a Poisson sample, other than of a step.
func sampledFirst(c Composed) (PoissonSampled, bool) {
	if len(c.Events) < 2 {
		return PoissonSampled{}, false
	}
	p, ok := c.Events[0].(PoissonSampled)
	if !ok {
		return PoissonSampled{}, false
	}
	_, step := gaussianStep(p)
	return flattened(p), !step
}

// one returns e for units of one row, with the groups inside it spread.
func (s *spreading) one(e Event) Event {
	switch e := e.(type) {
	case PoissonSampled:
		return PoissonSampled{SamplingProbability: e.SamplingProbability, Event: s.rows(e.Event, 1)}
	case SubsetThenRest:
		return SubsetThenRest{SamplingProbability: e.SamplingProbability, Tune: s.rows(e.Tune, 1), Base: s.rows(e.Base, 1)}
	case Parallel:
		return Parallel{Events: s.all(e.Events, 1)}
	}
	return e
}

func (s *spreading) all(events []Event, n int) []Event {
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = s.rows(e, n)
	}
	return out
}

// sampled returns a bound on the cost of tune on a Poisson sample of rate q, followed by base, if there is one, on the
// rest of the data or on all of it, for units of n rows. alone is the event for one row.
func (s *spreading) sampled(alone Event, q float64, tune, base Event, onRest bool, n int) Event {
	s.exact = false
	if q == 0 || q == 1 {
		var all []Event
		if q == 1 {
			all = append(all, s.rows(tune, n))
		}
		if base != nil && (q == 0 || !onRest) {
			all = append(all, s.rows(base, n))
		}
		return Composed{Events: all}
	}
	any := math.Min(1, -math.Expm1(float64(n)*math.Log1p(-q))*(1+0x1p-48))
	out := severalRows{Rows: n, Alone: s.one(alone)}
	if c, ok := alone.(Composed); ok {
		out.Alone = Composed{Events: s.all(c.Events, 1)}
	}
	withBase := func(e Event, rows int) Event {
		if base == nil || rows == 0 {
			return e
		}
		return Composed{Events: []Event{e, s.rows(base, rows)}}
	}
	none := Event(Composed{}) // of the rows in the sample
	if base != nil {
		none = s.rows(base, n)
	}
	out.Apart.add(none, math.Exp(float64(n)*math.Log1p(-q))*(1+0x1p-40))
	fewest := 1
	for _, j := range sampledRows(n, q) {
		out.Together.add(withBase(PoissonSampled{SamplingProbability: any, Event: s.rows(tune, j.rows)}, n), j.weight)
		left := n
		if onRest {
			left = n - fewest
		}
		out.Apart.add(withBase(s.rows(tune, j.rows), left), any*j.weight)
		fewest = j.rows + 1
	}
	return out
}

type rowsWeight struct {
	rows   int
	weight float64
}

const (
	// mostSizes is the largest number of values of J that spreading.sampled tells apart.
	mostSizes = 10
	// negligible is the probability of the values of J that are replaced by the largest one: far below any useful
	// delta.
	negligible = 1e-9
)

// sampledRows returns values of J ~ Binomial(n, q) given J >= 1, ascending, with weights whose sum is at least 1. Each
// value represents those between the previous one and itself.
func sampledRows(n int, q float64) []rowsWeight {
	weights := make([]float64, n+1)
	total := 0.0
	for j := 1; j <= n; j++ {
		binomial, _ := math.Lgamma(float64(n) + 1)
		x, _ := math.Lgamma(float64(j) + 1)
		y, _ := math.Lgamma(float64(n-j) + 1)
		log := binomial - x - y + float64(j)*math.Log(q)
		if j < n {
			log += float64(n-j) * math.Log1p(-q)
		}
		weights[j] = math.Exp(log)
		total += weights[j]
	}
	low, high, below, above := 1, n, 0.0, 0.0
	for ; low < n && below+weights[low] <= negligible*total; low++ {
		below += weights[low]
	}
	for ; high > low && above+weights[high] <= negligible*total; high-- {
		above += weights[high]
	}
	width := (high - low + mostSizes) / mostSizes
	var out []rowsWeight
	sum := below
	for j := low; j <= high; j++ {
		sum += weights[j]
		if (j-low+1)%width == 0 || j == high {
			out = append(out, rowsWeight{j, sum / total * (1 + 0x1p-36)})
			sum = 0
		}
	}
	if above > 0 {
		out = append(out, rowsWeight{n, above / total * (1 + 0x1p-36)})
	}
	return out
}

func (g GroupOf) free() bool { return g.Event.free() }

// [spread] leaves groups around steps alone, so the methods below see no other group.

func (g GroupOf) curve(r *curves) renyi.Curve {
	if s, ok := gaussianStep(g); ok {
		return r.step(s)
	}
	e, _ := spread(g)
	return e.curve(r)
}

func (g GroupOf) pair(r *profiler) (*pld.Pair, error) {
	if s, ok := gaussianStep(g); ok {
		return r.gaussians(s, 1)
	}
	e, _ := spread(g)
	return r.pair(e)
}

func (g GroupOf) variance(d *deviations) float64 {
	if s, ok := gaussianStep(g); ok {
		return s.variance()
	}
	e, _ := spread(g)
	return e.variance(d)
}

func (g GroupOf) theorems() []string {
	if g.Size == 1 {
		return g.Event.theorems()
	}
	return cite("several rows of a unit", g.Event)
}
