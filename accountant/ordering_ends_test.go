package accountant

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/long"
)

// TestDeepCellsFall checks that the bound on divergences falls with epsilon, to 0 far out, if K is so large that phi1
// differs by orders of magnitude between the ends of a cell.
func TestDeepCellsFall(t *testing.T) {
	for _, base := range []Event{DPSGD(0.1, 1, 100), DPSGD(0.03, 1, 3000)} {
		d, err := newProfiler(pld.NewGrid(gridStep(base), 1e-20)).pair(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, mean := range []float64{200, 1000} {
			s := pld.NewSelection(d, Poisson{Mean: mean}.law(), pld.CellCount)
			for _, f := range []func(float64) float64{s.Remove, s.Add} {
				last := 1.0
				for epsilon := 0.0; epsilon < pld.LargestLoss; epsilon += 20 {
					delta := f(epsilon)
					if delta > last*(1+1e-6) {
						t.Errorf("%v, mean %v: delta grows from %v to %v at epsilon %v", base, mean, last, delta, epsilon)
					}
					last = delta
				}
				if last > 1e-12 {
					t.Errorf("%v, mean %v: delta is %v at the largest losses", base, mean, last)
				}
			}
		}
	}
}

// TestExtremeRepetitions has distributions with K = 1 almost surely, and others whose derivatives exceed the float64s:
// bounds were 0 for both.
func TestExtremeRepetitions(t *testing.T) {
	best := Options{Mode: Best}
	one := mustEpsilon(t, Gaussian{1}, 1e-5, best)
	for _, k := range Every(2, []Repetitions{
		TruncatedPoisson{1e-300}, TruncatedPoisson{1e-310}, TruncatedPoisson{1e-320}, TruncatedPoisson{5e-324},
		TruncatedNegativeBinomial{-0.99, 1e-316}, TruncatedNegativeBinomial{-0.9, 1e-316}, TruncatedNegativeBinomial{-0.5, 1e-316},
		TruncatedNegativeBinomial{0, 5e-324}, TruncatedNegativeBinomial{7, 1e-323}, TruncatedNegativeBinomial{1e12, 1e-316},
		TruncatedNegativeBinomial{1e300, 1e-309}, Poisson{1e300}, TruncatedPoisson{1e300},
	}) {
		e := SelectBest{Gaussian{1}, k}
		if g := mustEpsilon(t, e, 1e-5, best); !(g >= one*(1-1e-9)) {
			t.Errorf("%#v: epsilon %v, below one run's %v", k, g, one)
		}
		if p, ok := k.(TruncatedPoisson); ok && p.Rate < 1 {
			if g := mustEpsilon(t, e, 1e-5, best); g > one*1.01 {
				t.Errorf("%#v: epsilon %v, far above one run's %v", k, g, one)
			}
		}
		for _, epsilon := range []float64{0, 0.1, 1} {
			g, err := Delta(e, epsilon, best)
			if truth := gaussianDelta(1, epsilon) * (1 - 1e-9); err != nil || !(g.Delta >= truth) {
				t.Errorf("%#v: delta %v at epsilon %v, below one run's %v (%v)", k, g.Delta, epsilon, truth, err)
			}
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), 2} {
		if padded(x) != 1 {
			t.Errorf("a delta of %v passes for %v", x, padded(x))
		}
	}
}

// TestAttainedAtItsEnds checks that Attained is a number below mode Best's bound, at plans where one of them consists
// of roundings or tails alone.
func TestAttainedAtItsEnds(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 1, Success: 1}
	base := DPSGD(0.0165, 2, 2424)
	plans := map[string]Event{"one run": base, "Gaussian": Gaussian{1}}
	for name, k := range map[string]Repetitions{"once": once, "Poisson": Poisson{15}} {
		plans["baseline, "+name], plans["variant 1, "+name], plans["variant 2, "+name] = Baseline(k, base), Variant1(0.1, k, base), Variant2(0.1, k, base)
	}
	plans["Gaussians, all of many"] = Baseline(Binomial{2e6, 1}, Gaussian{1})
	plans["Gaussians, hardly any"] = Baseline(Binomial{5, 1e-4}, Gaussian{1})
	plans["Gaussians, many"] = Baseline(Poisson{1e6}, Gaussian{1})
	for i, name := range slices.Sorted(maps.Keys(plans)) {
		if long.Leaves(i, 5) {
			continue
		}
		e, deltas := plans[name], []float64{1e-30, 1e-5}
		if !long.Tests() {
			deltas = deltas[i/2%2 : i/2%2+1]
		}
		if strings.HasSuffix(name, ", Poisson") {
			deltas = []float64{1e-30} // TestAttainedIsBelowTheBound has such plans at the other
		}
		for _, delta := range deltas {
			t.Run(fmt.Sprint(name, " ", delta), func(t *testing.T) {
				best := mustEpsilon(t, e, delta, Options{Mode: Best})
				attained, err := Attained(e, delta)
				if err != nil || !(attained >= 0 && attained <= best*(1+1e-9)+1e-9) {
					t.Errorf("attained %v, mode best %v (%v)", attained, best, err)
				}
			})
		}
		if attained, err := Attained(e, 0); err != nil || !math.IsInf(attained, 1) {
			t.Errorf("%s: attained %v at delta 0 (%v)", name, attained, err)
		}
	}
	// One trial is one run, whose losses are cut into cells here.
	two := mustEpsilon(t, Composed{[]Event{PoissonSampled{0.1, base}, base}}, 1e-5, Options{Mode: Best})
	if attained, err := Attained(Variant2(0.1, once, base), 1e-5); err != nil || attained < two*(1-1e-3) {
		t.Errorf("a trial of a sample and a run: attained %v, cost %v (%v)", attained, two, err)
	}
}

// TestIgnoringDataIsFree checks that selections, however large, of mechanisms that ignore their data cost nothing.
func TestIgnoringDataIsFree(t *testing.T) {
	nothing := PoissonSampled{SamplingProbability: 0, Event: Gaussian{1}}
	one := mustEpsilon(t, Gaussian{1}, 1e-5, Options{Mode: Best})
	for _, k := range []Repetitions{
		Poisson{1e-300}, Poisson{0.5}, Poisson{15}, Poisson{1e9}, Poisson{1e300}, TruncatedPoisson{1e12},
		Binomial{1, 5e-324}, Binomial{2e6, 1}, Binomial{3, 0.5}, Binomial{2, 1},
		TruncatedNegativeBinomial{-0.9999999999999999, 1e-300}, TruncatedNegativeBinomial{0, 5e-324},
		TruncatedNegativeBinomial{1, 1e-9}, TruncatedNegativeBinomial{1e300, 0.9},
	} {
		free := SelectBest{nothing, k}
		for _, delta := range []float64{0, 1e-300, 1e-5} {
			if epsilon := mustEpsilon(t, free, delta, Options{Mode: Best}); epsilon != 0 {
				t.Errorf("%#v: epsilon %v at delta %v", k, epsilon, delta)
			}
			if epsilon, err := Attained(free, delta); epsilon != 0 || err != nil {
				t.Errorf("%#v: attained %v at delta %v (%v)", k, epsilon, delta, err)
			}
		}
		if g, err := Delta(free, 0, Options{Mode: Best}); err != nil || g.Delta != 0 {
			t.Errorf("%#v: delta %v (%v)", k, g.Delta, err)
		}
		if epsilon := mustEpsilon(t, Composed{[]Event{free, Gaussian{1}}}, 1e-5, Options{Mode: Best}); math.Abs(epsilon/one-1) > 1e-4 {
			t.Errorf("%#v, and a Gaussian: epsilon %v, without it %v", k, epsilon, one)
		}
	}
}
