package ledger

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/accountant"
)

// mostBest is the maximum number of different events that are composed in mode best. Each takes 0.1 to 0.25 seconds,
// however often it occurs: of tunings with 15 expected trials on MNIST (variant 1), 20 or 200 equal ones took 0.2 s, 5
// different ones 1.2 s, 10 different ones 2.4 s, and 20 different ones 3.2 s, on a core of a busy machine. Mode tight
// took 0.01 s at most, and gave twice the epsilon.
const mostBest = 16

// sumBound is the name of the bound by simple addition.
const sumBound = "sum of the epsilons and deltas of all releases"

// A composer turns releases into totals. It caches epsilons, since callers ask a ledger for the same ones repeatedly.
// It is safe for concurrent use.
type composer struct {
	mu    sync.Mutex
	known map[string]accountant.Guarantee
}

// smallestDelta returns the smallest delta of releases with a guarantee, or 0.
func smallestDelta(all []Release) float64 {
	delta := 0.0
	for _, r := range all {
		if !r.Void && (delta == 0 || r.Delta < delta) {
			delta = r.Delta
		}
	}
	return delta
}

// total returns the total at delta, or the sums if they have a smaller epsilon, which is then at a larger delta.
func (c *composer) total(all []Release, delta float64) (Total, error) {
	t, err := c.totalAt(all, delta)
	if err == nil && t.SumEpsilon < t.Epsilon {
		t.Epsilon, t.Delta, t.Bound = t.SumEpsilon, t.SumDelta, sumBound
	}
	return t, err
}

// totalAt returns the total at delta.
func (c *composer) totalAt(all []Release, delta float64) (Total, error) {
	t := Total{Delta: delta, Bound: "no release"}
	var counted []Release
	for _, r := range all {
		if r.Void {
			t.Void++
			continue
		}
		counted = append(counted, r)
	}
	if t.Releases = len(counted); t.Releases == 0 {
		return t, nil
	}
	t.SumEpsilon = sumUp(counted, func(r Release) float64 { return r.Epsilon })
	t.SumDelta = min(1, sumUp(counted, func(r Release) float64 { return r.Delta }))
	if t.Bound = differ(counted); t.Bound != "" {
		t.Epsilon, t.SumEpsilon = math.Inf(1), math.Inf(1)
		return t, nil
	}
	groups, err := grouped(counted)
	if err != nil {
		return t, err
	}
	g, err := c.epsilon(groups, delta)
	if err != nil {
		return t, err
	}
	t.Epsilon, t.Bound = g.Epsilon, g.Bound
	if t.SumDelta <= delta && t.SumEpsilon < t.Epsilon {
		t.Epsilon, t.Bound = t.SumEpsilon, sumBound
		if t.Releases == 1 {
			t.Bound = "the release's own statement"
		}
	}
	return t, nil
}

// sumUp returns the sum of a value over all releases, rounded up.
func sumUp(all []Release, value func(Release) float64) float64 {
	sum := new(big.Float).SetPrec(200).SetMode(big.ToPositiveInf)
	for _, r := range all {
		sum.Add(sum, big.NewFloat(value(r)))
	}
	v, _ := sum.SetPrec(53).Float64() // only this step may round, and it rounds up
	return v
}

// group holds equal events.
type group struct {
	text  string // the event as JSON
	event accountant.Event
	count int
}

// grouped returns the different events, the most frequent first.
func grouped(all []Release) ([]group, error) {
	byText := map[string]*group{}
	for _, r := range all {
		text, err := r.eventText()
		if err != nil {
			return nil, err
		}
		if byText[text] == nil {
			byText[text] = &group{text: text, event: r.Event}
		}
		byText[text].count++
	}
	var groups []group
	for _, g := range byText {
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.text, b.text))
	})
	return groups, nil
}

// composed returns the composition of groups. One event alone has a sharper bound than a composition of one.
func composed(groups []group) accountant.Event {
	var parts []accountant.Event
	for _, g := range groups {
		if g.count == 1 {
			parts = append(parts, g.event)
		} else {
			parts = append(parts, accountant.SelfComposed{Event: g.event, Count: g.count})
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return accountant.Composed{Events: parts}
}

// epsilon returns the epsilon of the composition of groups at delta. For up to mostBest groups it is mode best's. For
// more it is the smaller of two bounds: mode tight's for all, and the sum of mode best's for the most frequent ones and
// mode tight's for the others, at half of delta each.
func (c *composer) epsilon(groups []group, delta float64) (accountant.Guarantee, error) {
	if len(groups) <= mostBest {
		return c.guarantee(groups, delta, accountant.Best)
	}
	all, err := c.guarantee(groups, delta, accountant.Tight)
	if err != nil {
		return all, err
	}
	best, err := c.guarantee(groups[:mostBest], delta/2, accountant.Best)
	if err != nil {
		return all, err
	}
	rest, err := c.guarantee(groups[mostBest:], delta/2, accountant.Tight)
	if err != nil {
		return all, err
	}
	if sum := (best.Epsilon + rest.Epsilon) * (1 + 1e-12); sum < all.Epsilon {
		all.Epsilon = sum
		all.Bound = fmt.Sprintf("%s; and for %d of %d different releases %s, added up at half of delta each", best.Bound, len(groups)-mostBest, len(groups), rest.Bound)
	}
	return all, nil
}

func (c *composer) guarantee(groups []group, delta float64, mode accountant.Mode) (accountant.Guarantee, error) {
	key := fmt.Sprintf("%s %x", mode, math.Float64bits(delta))
	for _, g := range groups {
		key += fmt.Sprintf("\n%d %s", g.count, g.text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.known[key]; ok {
		return g, nil
	}
	g, err := accountant.Epsilon(composed(groups), delta, accountant.Options{Mode: mode})
	if err != nil {
		return g, fmt.Errorf("account for all releases together: %w", err)
	}
	if c.known == nil {
		c.known = map[string]accountant.Guarantee{}
	}
	c.known[key] = g
	return g, nil
}
