package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// replacedBounds returns the bounds of an event for [ReplaceOne]. A replacement is a removal and an addition, so that
// each bound for AddRemove gives one: with neither sample in the data between the two,
//
//	(P1 - e^epsilon P2)_+ <= (P1 - e^s P0)_+ + e^s (P0 - e^{epsilon-s} P2)_+.
//
// Mode Best adds the bound by the privacy losses of replacements themselves (docs/proofs/bounds.md, "A sample in
// another's place"). The Rényi modes have no sharper bound: the paper knows AddRemove only.
func replacedBounds(e, named Event, o Options, delta float64) (all []bound) {
	o.Neighbours = AddRemove
	for _, b := range boundsOf(e, named, o, delta) {
		all = append(all, twiceBound{b})
	}
	if o.Mode != Best {
		return all
	}
	if p, _, err := profileOf(e, delta, false, true); err == nil {
		all = append(all, profileBound{profile: p, name: describe("privacy-loss distributions of replacements", named)})
	}
	return all
}

// A twiceBound bounds a replacement by a removal and an addition.
type twiceBound struct{ one bound }

// DeltaAt returns the smallest sum of both that a search over the share of the removal finds. Any share gives a bound.
func (b twiceBound) DeltaAt(epsilon float64) float64 {
	one := b.one.delta
	quicker := func(epsilon float64) float64 { return one(epsilon).Delta }
	if p, ok := b.one.(profileBound); ok {
		upper, _ := quick(p.profile)
		quicker = func(epsilon float64) float64 { return padded(upper.DeltaAt(epsilon)) }
	}
	sum := func(delta func(epsilon float64) float64, s float64) float64 {
		return delta(s) + math.Exp(math.Min(s, pld.LargestLoss))*delta(math.Max(0, epsilon*(1-0x1p-50)-s))
	}
	s, _ := pld.Least(0, epsilon, func(s float64) float64 { return sum(quicker, s) })
	return sum(func(epsilon float64) float64 { return one(epsilon).Delta }, s)
}

func (b twiceBound) delta(epsilon float64) Guarantee {
	return b.named(profileBound{profile: b}.delta(epsilon))
}

func (b twiceBound) epsilon(delta float64) Guarantee {
	return b.named(profileBound{profile: b}.epsilon(delta))
}

func (b twiceBound) named(g Guarantee) Guarantee {
	g.Bound = "a removal and an addition, " + b.one.delta(0).Bound
	return g
}
