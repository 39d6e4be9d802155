package accountant

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// TestSelectionIsCharged holds the accountant to its limit of work.
func TestSelectionIsCharged(t *testing.T) {
	e := Baseline(Poisson{15}, Gaussian{2})
	r := newProfiler(0.01)
	if _, err := r.pair(Gaussian{2}); err != nil {
		t.Fatal(err)
	}
	before := r.work
	if _, err := r.pair(e); err != nil {
		t.Fatal(err)
	}
	if took := r.work - before; took < 50*pld.CellCount*pld.CellCount || took > 3000*pld.CellCount*pld.CellCount {
		t.Errorf("a selection takes %v products", took)
	}
	r = newProfiler(0.01)
	if _, err := r.pair(Gaussian{2}); err != nil {
		t.Fatal(err)
	}
	r.work = mostWork
	if d, err := r.pair(e); err != pld.ErrTooFine {
		t.Errorf("%v, %v beyond the limit, want errTooFine", d, err)
	}
}

// TestOneTrial holds the best of one to the trial.
func TestOneTrial(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 2, Success: 1}
	run := Gaussian{2}
	for _, c := range [][2]Event{
		{Baseline(once, run), run},
		{Variant1(0.3, once, run), SubsetThenRest{0.3, run, run}},
		{Variant2(0.3, once, run), Composed{[]Event{PoissonSampled{0.3, run}, run}}},
	} {
		p, _, err := newProfile(c[0])
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := newProfile(c[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0, 0.5, 2} {
			if a, b := p.DeltaAt(epsilon), want.DeltaAt(epsilon); !(math.Abs(a/b-1) < 1e-3) { // grids differ
				t.Errorf("%#v, epsilon %v: %v, want %v", c[0], epsilon, a, b)
			}
		}
	}
}
