package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
)

// A profile bounds delta as a function of epsilon.
type profile interface {
	DeltaAt(epsilon float64) float64
}

// A profiler is the privacy-loss accountant: it turns events into pairs on one grid.
type profiler struct {
	grid  pld.Grid
	pairs map[string]pairOrError // by event, since variants use the base run twice
	work  float64                // products of two masses so far
	// A draft's bounds are looser by some 1e-3 and take a fraction of the time.
	draft bool
	// replaced makes pairs for a sample that is replaced; added has those for a sample that is added or removed.
	replaced bool
	added    *profiler
}

type pairOrError struct {
	pair *pld.Pair
	err  error
}

const (
	// widestTail is the maximum tail of a window: narrower windows aren't tried.
	widestTail = 1e-10
	// finestStep is the smallest step of a grid, far above a rounding of 1.
	finestStep = 0x1p-40
	// mostWork bounds the products of two masses for a whole event, to some seconds: a coarser grid takes fewer.
	mostWork = 1 << 28
)

func newProfiler(grid pld.Grid) *profiler {
	return &profiler{grid: grid, pairs: map[string]pairOrError{}}
}

// newProfile chooses a grid and returns the profile of e, together with its profiler. The profile is sharp down to
// about the given delta: masses far below it aren't told apart.
func newProfile(e Event, delta float64) (profile, *profiler, error) {
	return profileOf(e, delta, false, false)
}

// profileOf is newProfile, or its draft, or the profile for a sample that is replaced.
func profileOf(e Event, delta float64, draft, replaced bool) (profile, *profiler, error) {
	tail := gridTail(e, delta)
	for step := math.Max(finestStep, gridStep(e)); step < pld.LargestLoss; {
		p := newProfiler(pld.NewGrid(step, tail))
		p.draft = draft
		if replaced {
			p.replaced, p.added = true, newProfiler(p.grid)
		}
		prof, err := p.profile(e)
		switch {
		case errors.Is(err, pld.ErrTooFine):
			step *= 2
		case errors.Is(err, pld.ErrTooWide) && tail < widestTail: // less far out, losses may be within bounds
			tail = math.Sqrt(tail)
		default:
			return prof, p, err
		}
	}
	return nil, newProfiler(pld.NewGrid(1, tail)), pld.ErrTooWide
}

// profiled is implemented by events with a profile that is sharper than their pair.
type profiled interface {
	profile(r *profiler) (profile, error)
}

func (r *profiler) profile(e Event) (profile, error) {
	if e, ok := e.(profiled); ok {
		return e.profile(r)
	}
	return r.pair(e)
}

// pair returns the pair of e. It computes each pair once.
func (r *profiler) pair(e Event) (*pld.Pair, error) {
	key := fmt.Sprintf("%#v", e)
	known, ok := r.pairs[key]
	if !ok {
		if e.free() {
			known.pair = pld.Neutral(r.grid)
		} else {
			known.pair, known.err = e.pair(r)
			if _, alone := e.(RDPLine); !alone && !r.replaced && known.err == nil && holds(e, isLine) {
				known.pair, known.err = r.belowCurve(known.pair, e)
			}
		}
		r.pairs[key] = known
	}
	return known.pair, known.err
}

// charge adds the products of x's masses with y's to the work, for an operation with the result d.
func (r *profiler) charge(d *pld.Pair, err error, x, y *pld.Pair) (*pld.Pair, error) {
	if err != nil {
		return nil, err
	}
	r.work += pld.Products(x, y)
	return r.withinWork(d)
}

// chargeEach adds a given number of products for each mass of the result d.
func (r *profiler) chargeEach(d *pld.Pair, err error, each int) (*pld.Pair, error) {
	if err != nil {
		return nil, err
	}
	r.work += float64(d.Len()) * float64(each)
	return r.withinWork(d)
}

// manyTrials is the minimum mean number of trials for which cells are half as wide: an epsilon takes less than one and
// a half times as long, and the cells' error in it falls by a third to a half.
const manyTrials = 75

// cells returns the number of cells for a selection's losses. count is the usual number.
func (r *profiler) cells(count int, k Repetitions) int {
	if k.Expected() >= manyTrials {
		count *= 2
	}
	if r.draft {
		count /= 2
	}
	return count
}

func (r *profiler) withinWork(d *pld.Pair) (*pld.Pair, error) {
	if r.work > mostWork {
		return nil, pld.ErrTooFine
	}
	return d, nil
}

// lower lowers hat[a], a delta at renyi.EpsilonHat(a), to the delta of e's pair.
func (r *profiler) lower(hat []float64, e Event) {
	d, err := r.pair(e)
	if err != nil {
		return // the Rényi bound stands
	}
	for a := 2; a < len(hat); a++ {
		hat[a] = math.Min(hat[a], padded(d.DeltaAt(renyi.EpsilonHat(a))))
	}
}

// gaussians composes count equal steps.
func (r *profiler) gaussians(s sampledStep, count int) (*pld.Pair, error) {
	d, each, err := pld.Rows(r.grid, s.rate, s.noise, s.rows, count, r.replaced)
	if err != nil || each == 0 {
		return d, err
	}
	return r.chargeEach(d, nil, each)
}

func (r *profiler) maximum(events []Event) (*pld.Pair, error) {
	pairs, err := each(events, r.pair)
	if err != nil {
		return nil, err
	}
	d, err := pld.Maximum(pairs)
	return r.chargeEach(d, err, len(events))
}

// A largestProfile is the maximum over candidates or shards.
type largestProfile []profile

// DeltaAt returns the largest of the profiles' deltas.
func (l largestProfile) DeltaAt(epsilon float64) float64 {
	delta := 0.0
	for _, p := range l {
		delta = math.Max(delta, p.DeltaAt(epsilon))
	}
	return delta
}

func (r *profiler) largest(events []Event) (profile, error) {
	all, err := each(events, r.profile)
	return largestProfile(all), err
}

// each returns a value of each event, or the first error.
func each[T any](events []Event, of func(Event) (T, error)) ([]T, error) {
	all := make([]T, len(events))
	for i, e := range events {
		var err error
		if all[i], err = of(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// plan adds the bound with one order to pairs, a plan's bound by pairs. It does so if tune is the best of several
// trials and the theorem on one order covers their number.
func (r *profiler) plan(pairs pld.Profile, tune Event, final *pld.Pair, q float64, v pld.Variant) (profile, error) {
	best, ok := tune.(SelectBest)
	if !ok || r.replaced {
		return pairs, nil
	}
	if _, ok := best.composition(); ok || !repetitions.Steepens(best.Repetitions.law()) {
		return pairs, nil
	}
	trial, err := r.pair(best.Event)
	if err != nil {
		return nil, err
	}
	tuned, err := r.pair(best)
	if err != nil {
		return nil, err
	}
	return pld.NewPlan(pairs, trial, tuned, final, best.Repetitions.law(), q, v, r.cells(pld.CellCountShared, best.Repetitions)), nil
}
