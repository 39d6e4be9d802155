package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// severalRows is a tuning run on a Poisson sample, with or without a final run after it, for units of Rows rows. Each
// divergence takes the smallest of several bounds, which docs/proofs/bounds.md, "Several rows of one unit", proves. It
// is never part of a caller's event: [spread] makes it.
type severalRows struct {
	Rows     int
	Apart    average // each number J >= 0 of rows in the sample by itself
	Together average // given J >= 1, each J as a sample of all, before a final run with all rows; for Rényi divergences
	Alone    Event   // for one row, from which rows are added one by one
}

// An average is one of Events, drawn with the probabilities Weights. Without the unit all Events have the same law. The
// weights add up to at least 1.
type average struct {
	Events  []Event
	Weights []float64
}

func (a *average) add(e Event, weight float64) {
	a.Events, a.Weights = append(a.Events, e), append(a.Weights, weight)
}

func (s severalRows) check(path string) error { return checkParts(path, s.Apart.Events) }

func (s severalRows) free() bool { return every(s.Apart.Events, Event.free) }

func (s severalRows) curve(r *curves) renyi.Curve {
	return renyi.Minimum(s.Together.curve(r), s.Apart.curve(r))
}

// curve uses that e^{(a-1) D_a} is jointly convex.
func (a average) curve(r *curves) renyi.Curve {
	all := make([]renyi.Curve, len(a.Events))
	for i, e := range a.Events {
		all[i] = e.curve(r)
	}
	return renyi.Average(all, a.Weights)
}

func (s severalRows) split(r *profiler) (pld.Split, error) {
	pairs, err := each(s.Apart.Events, r.pair)
	return pld.Split{Pairs: pairs, Weights: s.Apart.Weights}, err
}

func (s severalRows) pair(r *profiler) (*pld.Pair, error) {
	split, err := s.split(r)
	if err != nil {
		return nil, err
	}
	if r.replaced {
		return s.replaced(r, split)
	}
	alone, err := r.pair(s.Alone)
	if err != nil {
		return nil, err
	}
	d, err := split.Pair(alone, s.Rows)
	return r.chargeEach(d, err, 64*len(split.Pairs))
}

// replaced returns the smaller of two bounds for a unit whose rows are replaced. The mean over J is one, since J may be
// released: rows of neighbours can be matched so that as many of either are in the sample. The other is a removal and
// an addition.
func (s severalRows) replaced(r *profiler, split pld.Split) (*pld.Pair, error) {
	added, err := r.added.pair(s)
	if err != nil {
		return nil, err
	}
	twice, err := pld.Replaced(added)
	if err != nil {
		return nil, err
	}
	d, err := pld.Mixture(split.Pairs, split.Weights)
	if d, err = r.chargeEach(d, err, len(split.Pairs)); err != nil {
		return nil, err
	}
	return pld.Minimum(d, twice)
}

// profile avoids rounding the bounds to a grid, and uses one-row bounds that are sharper than their pair.
func (s severalRows) profile(r *profiler) (profile, error) {
	if r.replaced {
		return r.pair(s)
	}
	split, err := s.split(r)
	if err != nil {
		return nil, err
	}
	alone, err := r.profile(s.Alone)
	return rowsProfile{split, alone, s.Rows}, err
}

func (s severalRows) variance(d *deviations) float64 { return d.largest(s.Apart.Events...) }

func (s severalRows) theorems() []string {
	return cite("several rows of a unit", s.Apart.Events...)
}

// A rowsProfile takes the smaller of two bounds of severalRows.
type rowsProfile struct {
	split pld.Split
	alone profile
	rows  int
}

// DeltaAt returns the smaller delta.
func (p rowsProfile) DeltaAt(epsilon float64) float64 {
	return math.Min(p.split.DeltaAt(epsilon), pld.Chained(p.alone.DeltaAt, p.rows, epsilon))
}

// severalShards is the composition of [Parallel] events for a unit that may have rows in all shards. It isn't a
// [Composed]: the shards run in any order, so none is known to come first. It is never part of a caller's event:
// [spread] makes it.
type severalShards struct{ Composed }

func (s severalShards) profile(r *profiler) (profile, error) { return r.pair(s) }
