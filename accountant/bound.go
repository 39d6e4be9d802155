package accountant

import "github.com/dptrain/dptrain/internal/renyi"

// Bounds returns epsilon at delta by every bound of this package that applies to e, so that they can be compared;
// [Epsilon] returns the smallest. The Mode of each is the first mode that uses the bound. Modes [Paper] and [Tight]
// have one Rényi bound each. Mode [Best] adds the Rényi bound with deltas from privacy-loss distributions, and the
// bound by privacy-loss distributions alone.
func Bounds(e Event, delta float64, orders Orders) ([]Guarantee, error) {
	if err := checkDelta(delta); err != nil {
		return nil, err
	}
	if err := Validate(e); err != nil {
		return nil, err
	}
	var all []Guarantee
	for _, mode := range []Mode{Paper, Tight, Best} {
		o, err := Options{Mode: mode, Orders: orders}.check()
		if err != nil {
			return nil, err
		}
		for _, b := range bounds(e, o, delta) {
			all = append(all, b.epsilon(delta).in(o, e))
		}
	}
	return all, nil
}

// A bound turns an event into (epsilon, delta) in one way.
type bound interface {
	epsilon(delta float64) Guarantee
	delta(epsilon float64) Guarantee
}

// bounds returns the bounds that o allows for a valid event, except a bound that is never below another one. They are
// sharp down to about the given delta.
func bounds(e Event, o Options, delta float64) []bound {
	ready, named := prepared(e)
	return boundsOf(ready, named, o, delta)
}

// prepared returns the event that all bounds of a valid e are computed from, and the event that names them.
func prepared(e Event) (ready, named Event) {
	ready = normal(e)
	if !holds(ready, isGroup) {
		return ready, e
	}
	named, _ = spread(ready)
	return normal(named), named
}

// boundsOf returns the bounds of e, under the names of the event that it is a shard of.
func boundsOf(e, named Event, o Options, delta float64) []bound {
	if shards, ok := e.(Parallel); ok {
		var all shardsBound
		for _, shard := range shards.Events {
			all = append(all, boundsOf(shard, Parallel{Events: []Event{shard}}, o, delta))
		}
		return []bound{all}
	}
	if o.Neighbours == ReplaceOne && !e.free() {
		return replacedBounds(e, named, o, delta)
	}
	r := newCurves(o)
	if o.Mode != Best {
		return []bound{renyiBound{curve: e.curve(r), orders: o.Orders, name: describe("Rényi", named)}}
	}
	if e.free() {
		return []bound{freeBound{name: "nothing learnt from the data"}}
	}
	p, losses, err := newProfile(e, delta)
	r.losses = losses
	all := []bound{renyiBound{curve: e.curve(r), orders: o.Orders, name: describe("Rényi with privacy-loss deltas", named)}}
	if err == nil {
		all = append(all, profileBound{profile: p, name: describe("privacy-loss distributions", named)})
	}
	return all
}

// smallest applies get to every bound of the event, sharp down to about delta, and returns the result with the smallest
// value.
func smallest(e Event, o Options, delta float64, get func(bound) Guarantee, value func(Guarantee) float64) (Guarantee, error) {
	if err := Validate(e); err != nil {
		return Guarantee{}, err
	}
	o, err := o.check()
	if err != nil {
		return Guarantee{}, err
	}
	return smallestOf(bounds(e, o, delta), get, value).in(o, e), nil
}

func smallestOf(all []bound, get func(bound) Guarantee, value func(Guarantee) float64) (best Guarantee) {
	for i, b := range all {
		if g := get(b); i == 0 || value(g) < value(best) {
			best = g
		}
	}
	return best
}

// in returns g as a guarantee by options for an event.
func (g Guarantee) in(o Options, e Event) Guarantee {
	g.Mode, g.Neighbours = o.Mode, o.Neighbours
	if grouped(e) {
		g.Neighbours = o.Neighbours.unit()
	}
	return g
}

// A freeBound is the bound of an event that ignores its data.
type freeBound struct{ name string }

func (b freeBound) epsilon(delta float64) Guarantee { return Guarantee{Delta: delta, Bound: b.name} }
func (b freeBound) delta(epsilon float64) Guarantee {
	return Guarantee{Epsilon: epsilon, Bound: b.name}
}

// A renyiBound converts a Rényi curve.
type renyiBound struct {
	curve  renyi.Curve
	orders Orders
	name   string
}

func (b renyiBound) epsilon(delta float64) Guarantee {
	epsilon, order := b.curve.Epsilon(renyi.Orders(b.orders), delta)
	return Guarantee{Epsilon: epsilon, Delta: delta, Order: order, Bound: b.name}
}

func (b renyiBound) delta(epsilon float64) Guarantee {
	delta, order := b.curve.Delta(renyi.Orders(b.orders), epsilon)
	return Guarantee{Epsilon: epsilon, Delta: delta, Order: order, Bound: b.name}
}

// A shardsBound has the bounds of each of several shards. Together the shards cost as much as the costliest one, each
// by its own smallest bound: that is less than by one bound, or one order, for all shards.
type shardsBound [][]bound

func (b shardsBound) epsilon(delta float64) Guarantee {
	return b.costliest(func(one bound) Guarantee { return one.epsilon(delta) }, func(g Guarantee) float64 { return g.Epsilon })
}

func (b shardsBound) delta(epsilon float64) Guarantee {
	return b.costliest(func(one bound) Guarantee { return one.delta(epsilon) }, func(g Guarantee) float64 { return g.Delta })
}

func (b shardsBound) costliest(get func(bound) Guarantee, value func(Guarantee) float64) (costliest Guarantee) {
	for i, shard := range b {
		best := smallestOf(shard, get, value)
		if i == 0 || value(best) > value(costliest) {
			costliest = best
		}
	}
	return costliest
}
