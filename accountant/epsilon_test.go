package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// failer has the methods that *testing.T, *testing.B and *rapid.T share.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func mustEpsilon(t failer, e Event, delta float64, o Options) float64 {
	t.Helper()
	g, err := Epsilon(e, delta, o)
	if err != nil {
		t.Fatal(err)
	}
	return g.Epsilon
}

// TestTheTable has the table of bounds at delta 1e-5, rate 0.01, noise 2, 5000 steps, q 0.1: the Rényi bounds of both
// modes, and with deltas from privacy-loss distributions (rounded up to the digits that were published with it).
func TestTheTable(t *testing.T) {
	base := DPSGD(0.01, 2, 5000)
	for _, c := range Every(2, []struct {
		mean   float64
		event  func(k Repetitions) Event
		bounds [3]float64 // paper, tight, with privacy-loss deltas (0: not published)
	}{
		{10, func(k Repetitions) Event { return Baseline(k, base) }, [3]float64{3.714, 3.366, 2.97}},
		{15, func(k Repetitions) Event { return Baseline(k, base) }, [3]float64{4.657, 4.160, 3.57}},
		{45, func(k Repetitions) Event { return Baseline(k, base) }, [3]float64{9.290, 8.329, 6.69}},
		{10, func(k Repetitions) Event { return Variant1(0.1, k, base) }, [3]float64{1.741, 1.662, 0}},
		{15, func(k Repetitions) Event { return Variant1(0.1, k, base) }, [3]float64{2.455, 2.033, 1.69}},
		{45, func(k Repetitions) Event { return Variant1(0.1, k, base) }, [3]float64{6.988, 6.029, 4.40}},
		{10, func(k Repetitions) Event { return Variant2(0.1, k, base) }, [3]float64{2.282, 2.129, 0}},
		{15, func(k Repetitions) Event { return Variant2(0.1, k, base) }, [3]float64{2.914, 2.589, 0}},
		{45, func(k Repetitions) Event { return Variant2(0.1, k, base) }, [3]float64{6.946, 6.133, 0}},
	}) {
		e := c.event(Poisson{Mean: c.mean})
		all, err := Bounds(e, 1e-5, Orders{})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 4 {
			t.Fatalf("%d bounds", len(all))
		}
		for i, want := range c.bounds {
			if digits := 0.0055; want != 0 && math.Abs(all[i].Epsilon-want) > digits {
				t.Errorf("mean %v, %s: epsilon %v, want %v", c.mean, all[i].Bound, all[i].Epsilon, want)
			}
		}
		best := mustEpsilon(t, e, 1e-5, Options{Mode: Best})
		if best != math.Min(all[2].Epsilon, all[3].Epsilon) {
			t.Errorf("mean %v: best %v of %v", c.mean, best, all)
		}
	}
}

// TestOtherRepetitions compares with Google's dp_accounting (commit b5b0286e313b64a692abfc8c528d54ef47d960a0,
// RdpAccountant with the orders 2 to 256, RepeatAndSelectDpEvent(base, 15, shape)).
func TestOtherRepetitions(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		steps       int
		shape, want float64
	}{
		{0.0213, 2, 1878, math.Inf(1), 6.141305198688054},
		{0.0213, 2, 1878, 1, 4.5664388400341736},
		{0.0213, 2, 1878, 0.5, 4.202097226209204},
		{0.0213, 2, 1878, 0, 3.8082298090799442},
		{0.01, 2, 5000, math.Inf(1), 4.657143767430366},
		{0.01, 2, 5000, 1, 3.4687104602830883},
		{0.01, 2, 5000, 0.5, 3.1859345049357883},
		{0.01, 2, 5000, 0, 2.8718133116710276},
	} {
		var k Repetitions = Poisson{Mean: 15}
		if !math.IsInf(c.shape, 1) {
			var err error
			if k, err = NegativeBinomial(c.shape, 15); err != nil {
				t.Fatal(err)
			}
		}
		got := mustEpsilon(t, Baseline(k, DPSGD(c.rate, c.noise, c.steps)), 1e-5, Options{Mode: Paper})
		if math.Abs(got/c.want-1) > 1e-9 { // its own mean is solved to 1e-9
			t.Errorf("shape %v: epsilon %v, want %v", c.shape, got, c.want)
		}
	}
}

func TestEdges(t *testing.T) {
	infinite := math.Inf(1)
	sgd := DPSGD(0.1, 1, 10)
	for _, mode := range []Mode{Paper, Tight, Best} {
		o := Options{Mode: mode}
		for _, c := range []struct {
			name string
			got  float64
			want float64
		}{
			{"no events", mustEpsilon(t, Composed{}, 1e-5, o), 0},
			{"rate 0", mustEpsilon(t, DPSGD(0, 1, 10), 1e-5, o), 0},
			{"rate 0 without noise", mustEpsilon(t, DPSGD(0, 0, 10), 1e-5, o), 0},
			{"no steps", mustEpsilon(t, DPSGD(0.1, 1, 0), 1e-5, o), 0},
			{"no steps without noise", mustEpsilon(t, DPSGD(0.1, 0, 0), 1e-5, o), 0},
			{"no noise", mustEpsilon(t, DPSGD(0.1, 0, 1), 1e-5, o), infinite},
			{"no noise in the tuning", mustEpsilon(t, Variant1(0.1, Poisson{Mean: 5}, DPSGD(0.1, 0, 1)), 1e-5, o), infinite},
			{"delta 0", mustEpsilon(t, sgd, 0, o), infinite},
			{"delta 1", mustEpsilon(t, sgd, 1, o), 0},
		} {
			if c.got != c.want {
				t.Errorf("mode %s, %s: epsilon %v, want %v", mode, c.name, c.got, c.want)
			}
		}
	}
	if c, err := RDP(PoissonSampled{1, Gaussian{2}}, Options{Mode: Paper}); err != nil || c[7] < 0.875 || c[7] > 0.875*(1+1e-14) {
		t.Errorf("rate 1: rdp(7) = %v, %v, want 0.875", c[7], err)
	}
}

func TestDeltaInvertsEpsilon(t *testing.T) {
	for _, e := range []Event{DPSGD(0.0213, 1.5, 500), Variant1(0.1, Poisson{Mean: 15}, DPSGD(0.0213, 2, 1878))} {
		for _, mode := range []Mode{Paper, Tight, Best} {
			o := Options{Mode: mode}
			g, err := Delta(e, mustEpsilon(t, e, 1e-6, o), o)
			if err != nil {
				t.Fatal(err)
			}
			// Mode best is sharp about another delta, which Delta has to guess.
			if math.Abs(g.Delta/1e-6-1) > 1e-3 || mode != Best && math.Abs(g.Delta/1e-6-1) > 1e-6 || g.Neighbours != AddRemove || g.Mode != mode || g.Bound == "" {
				t.Errorf("mode %s: %+v, want delta 1e-6", mode, g)
			}
		}
	}
}

func TestInvalidEvents(t *testing.T) {
	sgd := DPSGD(0.1, 1, 10)
	for _, c := range []struct {
		event Event
		want  string
	}{
		{nil, "event root: invalid: no event"},
		{&Gaussian{1}, "pointers"},
		{Gaussian{-1}, "event Gaussian: invalid: noise multiplier -1"},
		{Gaussian{math.NaN()}, "noise multiplier NaN"},
		{PoissonSampled{1.5, Gaussian{1}}, "event PoissonSampled: invalid: sampling probability 1.5"},
		{PoissonSampled{0.5, nil}, "event PoissonSampled.Event: invalid: no event"},
		{SelfComposed{sgd, -1}, "count -1"},
		{Composed{[]Event{sgd, Gaussian{-2}}}, "event Composed.Events[1].Gaussian: invalid"},
		{MaxOver{}, "no candidates"},
		{Parallel{}, "no shards"},
		{SelectBest{sgd, nil}, "no distribution"},
		{SelectBest{sgd, Poisson{0}}, "mean 0"},
		{SelectBest{sgd, TruncatedPoisson{-1}}, "rate -1"},
		{SelectBest{sgd, TruncatedNegativeBinomial{-1, 0.5}}, "shape -1"},
		{SelectBest{sgd, TruncatedNegativeBinomial{1, 0}}, "success 0"},
		{SubsetThenRest{0.1, Gaussian{-1}, sgd}, "event SubsetThenRest.Tune.Gaussian"},
		{SubsetThenRest{0.1, sgd, PoissonSampled{0.1, Gaussian{-1}}}, "event SubsetThenRest.Base.PoissonSampled.Event.Gaussian"},
	} {
		_, err := Epsilon(c.event, 1e-5, Options{Mode: Paper})
		var at *EventError
		if !errors.As(err, &at) || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#v: error %v, want one with %q", c.event, err, c.want)
		}
	}
	for _, f := range []func() error{
		func() error { _, err := Epsilon(sgd, 2, Options{Mode: Paper}); return err },
		func() error { _, err := Delta(sgd, -1, Options{Mode: Paper}); return err },
		func() error { _, err := Epsilon(sgd, 1e-5, Options{Mode: "loose"}); return err },
		func() error { _, err := Epsilon(sgd, 1e-5, Options{Mode: Paper, Orders: Orders{1, 9}}); return err },
		func() error { _, err := RDP(sgd, Options{Mode: Paper, Orders: Orders{9, 8}}); return err },
		func() error { _, err := Bounds(sgd, 1e-5, Orders{2, 1025}); return err },
		func() error { _, err := Geometric(0.5); return err },
		func() error { _, err := NegativeBinomial(-1, 3); return err },
	} {
		if err := f(); !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v, want one that wraps ErrInvalid", err)
		}
	}
}

// Hardly any noise at all is expensive, not a crash.
func TestBestWithLittleNoise(t *testing.T) {
	for _, noise := range Every(3, []float64{1e-6, 1e-3, 0.01, 0.03, 0.05, 0.1, 0.2}) {
		for _, e := range []Event{
			DPSGD(0.0213, noise, 1878), DPSGD(1, noise, 3), DPSGD(1e-6, noise, 100),
			Variant1(0.1, Poisson{Mean: 15}, DPSGD(0.0213, noise, 1878)),
			Variant2(0.1, Poisson{Mean: 15}, DPSGD(0.0213, noise, 1878)),
			Baseline(Poisson{Mean: 15}, DPSGD(0.0213, noise, 1878)),
		} {
			tight := mustEpsilon(t, e, 1e-5, Options{Mode: Tight})
			if best := mustEpsilon(t, e, 1e-5, Options{Mode: Best}); !(best <= tight) {
				t.Errorf("%+v: best %v, tight %v", e, best, tight)
			}
		}
	}
}
