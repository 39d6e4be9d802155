package accountant

import (
	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
)

// SelectBest draws K from Repetitions, runs Event K times and releases the best outcome alone (Papernot and Steinke,
// [main_rdp_poisson]). With K = 0 it releases an answer that does not depend on the data. Neither K nor the losing
// outcomes are released. For [Fixed] repetitions see there.
//
// Any total order of outcomes, with independent tags that settle ties, may decide which of two outcomes is better. The
// decision must not depend on the other outcomes: no bound covers that.
type SelectBest struct {
	Event       Event
	Repetitions Repetitions
}

func (s SelectBest) check(path string) error {
	if err := checkRepetitions(s.Repetitions); err != nil {
		return invalid(path, "%v", err)
	}
	return checkPart(path+".Event", s.Event)
}

func (s SelectBest) free() bool { return s.Event.free() }

func (s SelectBest) curve(r *curves) renyi.Curve {
	o := renyi.Orders(r.orders)
	c := s.Repetitions.tuned(s.Event.curve(r), func() []float64 { return r.deltaHat(s.Event) }, o)
	if r.tight {
		return c.Convexified(o)
	}
	return c
}

func (s SelectBest) pair(r *profiler) (*pld.Pair, error) {
	if e, ok := s.composition(); ok {
		return r.pair(e)
	}
	// Very many trials at a very small delta need so many cells that they would take minutes.
	const fewest, mostStates, perProduct = 64, 1 << 29, 8
	cells := r.cells(pld.CellCount, s.Repetitions)
	selection, err := s.selection(r, cells)
	for err == nil && cells > fewest && selection.Work(r.grid) > mostStates {
		cells /= 2
		selection, err = s.selection(r, cells)
	}
	if err != nil {
		return nil, err
	}
	best, _, err := selection.Pair(r.grid)
	if err != nil {
		return nil, err
	}
	r.work += selection.Work(r.grid) / perProduct
	return r.withinWork(best)
}

// profile returns the profile of a selection that is the whole event without rounding to a grid.
func (s SelectBest) profile(r *profiler) (profile, error) {
	if _, ok := s.composition(); ok {
		return r.pair(s)
	}
	return s.selection(r, r.cells(pld.CellCountAlone, s.Repetitions))
}

// selection returns the exact worst case of the selection, by cells of at most the given number of losses.
func (s SelectBest) selection(r *profiler, cells int) (*pld.Selection, error) {
	k := s.Repetitions.law()
	if pld.TooMany(k) {
		return nil, pld.ErrTooWide
	}
	d, err := r.pair(s.Event)
	if err != nil {
		return nil, err
	}
	return pld.NewSelection(d, k, cells), nil
}

// composition returns the event that is charged for a selection whose K isn't random: all of its trials.
func (s SelectBest) composition() (Event, bool) {
	if k, ok := s.Repetitions.(Fixed); ok {
		return SelfComposed{Event: s.Event, Count: k.Trials}, true
	}
	return s.Event, repetitions.Once(s.Repetitions.law())
}

func (s SelectBest) variance(d *deviations) float64 {
	if f, ok := s.Repetitions.(Fixed); ok {
		return SelfComposed{Event: s.Event, Count: f.Trials}.variance(d)
	}
	return d.whole(s.Event)
}

func (s SelectBest) theorems() []string { return cite(s.Repetitions.theorem(), s.Event) }
