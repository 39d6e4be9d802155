package accountant

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// TestAttainedOfOneRun compares with the Gaussian's closed form: one run has no order.
func TestAttainedOfOneRun(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 1, Success: 1}
	for _, noise := range []float64{0.5, 2, 10} {
		for _, e := range []Event{
			Gaussian{noise},
			SelfComposed{Gaussian{2 * noise}, 4},
			SelfComposed{PoissonSampled{1, Gaussian{3 * noise}}, 9},
			Baseline(once, Gaussian{noise}),
			Variant1(0, Poisson{5}, Gaussian{noise}),
			Variant2(0, Poisson{5}, Gaussian{noise}),
		} {
			for _, delta := range []float64{0.1, 1e-5, 1e-9} {
				got, err := Attained(e, delta)
				if err != nil {
					t.Fatal(err)
				}
				exact := func(epsilon float64) float64 { return gaussianDelta(1/noise, epsilon) }
				if exact(0) < delta {
					if got != 0 {
						t.Errorf("%v, delta %v: %v, want 0", e, delta, got)
					}
					continue
				}
				if exact(got) < delta || exact(got*(1+1e-4)) > delta {
					t.Errorf("%v, delta %v: %v, where delta is %v", e, delta, got, exact(got))
				}
			}
		}
	}
}

// attainedEvents are plans with every kind of K.
func attainedEvents(t *testing.T) []Event {
	t.Helper()
	negative, err := NegativeBinomial(-0.5, 8)
	if err != nil {
		t.Fatal(err)
	}
	geometric, err := Geometric(30)
	if err != nil {
		t.Fatal(err)
	}
	var all []Event
	for i, k := range []Repetitions{Poisson{0.5}, Poisson{15}, TruncatedPoisson{5}, TruncatedPoisson{120}, negative, geometric, Binomial{30, 0.5}, Binomial{7, 1}} {
		base := []Event{Gaussian{3}, DPSGD(0.0213, 2, 1878), Gaussian{0.8}}[i%3]
		plans := []Event{Baseline(k, base), Variant1(0.1, k, base), Variant2(0.2, k, base)}
		all = append(all, plans[i%3], plans[(i+1+i/3)%3])
	}
	return all
}

// TestAttainedIsBelowTheBound checks Attained against mode Best, and against parts of a plan, which cost no more than
// the whole.
func TestAttainedIsBelowTheBound(t *testing.T) {
	for _, e := range Every(7, attainedEvents(t)) {
		p, _, err := newProfile(e, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		low, err := attaining{1e-5, 1e-14, map[string]lowerOrError{}}.profile(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0, 0.3, 2} {
			if got, bound := low.DeltaAt(epsilon), p.DeltaAt(epsilon); !(got > 0 && got <= bound*(1+1e-9)) {
				t.Errorf("%#v, epsilon %v: %v is attained, more than the bound of %v", e, epsilon, got, bound)
			}
		}
		const delta = 1e-5
		got, _ := bracket(low.DeltaAt, delta) // as Attained does
		if best := mustEpsilon(t, e, delta, Options{Mode: Best}); !(got > 0 && got <= best) {
			t.Errorf("%#v: %v is attained, more than the bound of %v", e, got, best)
		}
		if c, ok := e.(Composed); ok {
			if final := mustEpsilon(t, c.Events[1], delta, Options{Mode: Best}); got < final*(1-2e-4) {
				t.Errorf("%#v: %v is attained, less than by the final run alone, %v", e, got, final)
			}
		}
	}
}

func TestAttainedRefuses(t *testing.T) {
	run := Gaussian{2}
	tuned := Baseline(Poisson{5}, run)
	for _, e := range []Event{
		SelfComposed{tuned, 2}, PoissonSampled{0.5, tuned}, Parallel{[]Event{run, Gaussian{3}}},
		Composed{[]Event{Variant1(0.5, Poisson{5}, run), run}}, Composed{[]Event{run, tuned}},
		Gaussian{-1}, Baseline(Fixed{3}, run), Variant1(0.5, Fixed{2}, run), Variant2(0.5, Fixed{2}, run),
		Baseline(Poisson{5}, tuned), Variant1(0.5, Poisson{5}, tuned), SubsetThenRest{0.5, tuned, tuned}, Baseline(Poisson{5}, Parallel{[]Event{run, Gaussian{3}}}),
	} {
		if got, err := Attained(e, 1e-5); !errors.Is(err, ErrInvalid) {
			t.Errorf("%#v: %v, %v, want ErrInvalid", e, got, err)
		}
	}
	// The finest grid is too fine for both candidates.
	apart := Baseline(Poisson{5}, MaxOver{[]Event{Gaussian{2}, DPSGD(1e-4, 0.3, 1)}})
	if got, err := Attained(apart, 1e-5); err != nil || !(got > 1 && got <= mustEpsilon(t, apart, 1e-5, Options{Mode: Best})) {
		t.Errorf("candidates of very different losses: %v, %v", got, err)
	}
	for _, delta := range []float64{-1, 2, math.NaN()} {
		if got, err := Attained(run, delta); !errors.Is(err, ErrInvalid) {
			t.Errorf("delta %v: %v, %v, want ErrInvalid", delta, got, err)
		}
	}
}

// TestTableOfWorstOrders compares epsilon at delta 1e-5 with values of a separate program, for trials and final runs
// N(0.38198, 1) against N(0, 1), q = 0.1 and Poisson K: the supremum over orders if each loss of the final run has its
// own order, and the value for one order for all losses. That program's cells were coarser. Its values have errors of
// up to about 1e-3 for 45 runs.
func TestTableOfWorstOrders(t *testing.T) {
	run := Gaussian{NoiseMultiplier: 1 / 0.38198}
	for _, c := range Every(4, []struct {
		mean            float64
		event           func(k Repetitions) Event
		bound, attained float64
		high            float64 // how far the bound may be above
		name            string
	}{
		{15, func(k Repetitions) Event { return Baseline(k, run) }, 3.4917, 3.4917, 4e-4, "baseline"},
		{15, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 1.4247, 1.4125, 1e-3, "variant 1"},
		{15, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 1.8218, 1.7464, 2e-3, "variant 2"},
		{45, func(k Repetitions) Event { return Baseline(k, run) }, 6.3334, 6.3334, 8e-4, "baseline"},
		{45, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 3.3292, 3.3255, 5e-3, "variant 1"},
		{45, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 3.5876, 3.4389, 5e-3, "variant 2"},
		{1, func(k Repetitions) Event { return Baseline(k, run) }, 1.5970, 1.5970, 1e-3, "baseline"},
		{1, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 1.3882, 1.3882, 4e-4, "variant 1"},
		{1, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 1.4876, 1.4869, 4e-4, "variant 2"},
	}) {
		e := c.event(Poisson{Mean: c.mean})
		p, _, err := newProfile(e, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		if plan, ok := p.(*pld.Plan); ok {
			p = plan.Pairs
		}
		if got := (profileBound{profile: p}).epsilon(1e-5).Epsilon; got < c.bound*(1-1e-4) || got > c.bound*(1+c.high) {
			t.Errorf("%s of %v runs: %v, want %v", c.name, c.mean, got, c.bound)
		}
		got, err := Attained(e, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if best := mustEpsilon(t, e, 1e-5, Options{Mode: Best}); best < got || best > got*1.006 {
			t.Errorf("%s of %v runs: %v by the best bound, attained %v", c.name, c.mean, best, got)
		}
		if got < c.attained*(1-5e-4) || got > c.attained*(1+1.5e-3) {
			t.Errorf("%s of %v runs: %v attained, want %v", c.name, c.mean, got, c.attained)
		}
	}
}

// Draws, several events and other nestings have lower bounds too, below mode Best's charge and close to it.
func TestAttainedOfDrawsAndSequences(t *testing.T) {
	cheap, dear, k := DPSGD(0.02, 4, 300), DPSGD(0.02, 1.5, 300), Poisson{Mean: 8}
	drawn := OneOf{Events: []Event{cheap, dear}, Weights: []float64{3, 1}}
	plans := map[string]Event{
		"drawn":                    drawn,
		"baseline, drawn":          Baseline(k, drawn),
		"variant 1, drawn":         Variant1Of(0.2, k, drawn, MaxOver{Events: []Event{cheap, dear}}),
		"variant 2, drawn":         Variant2Of(0.2, k, drawn, MaxOver{Events: []Event{cheap, dear}}),
		"variant 2, then two runs": Composed{Events: []Event{Variant2(0.2, k, dear), cheap, Gaussian{NoiseMultiplier: 5}}},
	}
	for _, name := range Every(4, slices.Sorted(maps.Keys(plans))) {
		e := plans[name]
		best := mustEpsilon(t, e, 1e-5, Options{})
		got, err := Attained(e, 1e-5)
		if err != nil || !(got <= best && got >= 0.98*best) {
			t.Errorf("%s: attained %v, best %v, %v", name, got, best, err)
		}
	}
	got, err := Attained(Composed{Events: []Event{SelfComposed{Event: drawn, Count: 1}, Composed{}}}, 1e-5)
	if want, other := Attained(drawn, 1e-5); err != nil || other != nil || got != want {
		t.Errorf("attained %v, and %v nested, %v, %v", want, got, err, other)
	}
}
