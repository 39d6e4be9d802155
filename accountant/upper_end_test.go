package accountant

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// TestFreePartsDoNotMakeFree has one part that costs something, first or last.
func TestFreePartsDoNotMakeFree(t *testing.T) {
	costly, nothing := Event(Gaussian{NoiseMultiplier: 1}), Event(Composed{})
	for _, e := range []Event{
		MaxOver{Events: []Event{nothing, costly}}, MaxOver{Events: []Event{costly, nothing}},
		Parallel{Events: []Event{nothing, costly}}, Parallel{Events: []Event{costly, nothing}},
		Composed{Events: []Event{nothing, costly}}, Composed{Events: []Event{costly, nothing}},
		SelectBest{Event: costly, Repetitions: Poisson{Mean: 2}},
		SubsetThenRest{SamplingProbability: 0.5, Tune: nothing, Base: costly},
		SubsetThenRest{SamplingProbability: 0.5, Tune: costly, Base: nothing},
		SubsetThenRest{SamplingProbability: 0, Tune: nothing, Base: costly},
		SubsetThenRest{SamplingProbability: 1, Tune: costly, Base: nothing},
	} {
		for _, mode := range []Mode{Paper, Tight, Best} {
			g, err := Epsilon(e, 0, Options{Mode: mode})
			if err == nil && !math.IsInf(g.Epsilon, 1) {
				t.Errorf("%#v, mode %s: epsilon %v at delta 0", e, mode, g.Epsilon)
			}
			if g, err = Delta(e, 300, Options{Mode: mode}); err == nil && g.Delta == 0 {
				t.Errorf("%#v, mode %s: delta 0 at epsilon 300", e, mode)
			}
		}
	}
}

// TestEpsilonIsTheUpperEnd: at the epsilon returned for a delta, the profile's delta is at most that delta. The work of
// an event stays bounded.
func TestEpsilonIsTheUpperEnd(t *testing.T) {
	for _, e := range []Event{DPSGD(0.02, 1, 300), DPSGD(0.3, 2, 7), Gaussian{NoiseMultiplier: 1.7}} {
		p, _, err := newProfile(e, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		for _, delta := range []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11} {
			if epsilon := (profileBound{profile: p}).epsilon(delta).Epsilon; padded(p.DeltaAt(epsilon)) > delta {
				t.Errorf("%#v: delta %v at epsilon %v, want at most %v", e, padded(p.DeltaAt(epsilon)), epsilon, delta)
			}
		}
	}
}

// TestLargestProfile takes shards of which either is the costlier at some epsilon.
func TestLargestProfile(t *testing.T) {
	events := []Event{Gaussian{NoiseMultiplier: 1}, Gaussian{NoiseMultiplier: 5}, Gaussian{NoiseMultiplier: 2}}
	all, err := newProfiler(pld.NewGrid(0.01, 1e-20)).profile(Parallel{Events: events})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		one, err := newProfiler(pld.NewGrid(0.01, 1e-20)).profile(e)
		if err != nil {
			t.Fatal(err)
		}
		for epsilon := 0.0; epsilon < 6; epsilon += 0.1 {
			if all.DeltaAt(epsilon) < one.DeltaAt(epsilon) {
				t.Errorf("%#v, epsilon %v: %v is below %v", e, epsilon, all.DeltaAt(epsilon), one.DeltaAt(epsilon))
			}
		}
	}
}
