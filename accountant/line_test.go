package accountant

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

func TestLineCurve(t *testing.T) {
	c, err := RDP(RDPLine{Slope: 0.05, Orders: Orders{Low: 4, High: 24}}, Options{Mode: Paper, Orders: Orders{Low: 2, High: 30}})
	if err != nil {
		t.Fatal(err)
	}
	for a := 2; a <= 30; a++ {
		want := 0.05 * float64(a)
		switch {
		case a < 4:
			want = 0.2 // divergences grow with the order
		case a > 24:
			want = math.Inf(1)
		}
		// Above the line by more than rounding: a mechanism fitted to the line may be above it by rounding.
		if !(c[a] > want && c[a] < want*(1+1e-14)) && !(math.IsInf(want, 1) && math.IsInf(c[a], 1)) {
			t.Errorf("order %d: %v, want a little more than %v", a, c[a], want)
		}
	}
	c, err = RDP(RDPLine{Orders: Orders{Low: 4, High: 24}}, Options{Mode: Paper})
	if err != nil || slices.ContainsFunc(c, func(r float64) bool { return r != 0 }) {
		t.Errorf("slope 0: %v, %v, want nothing at any order", c, err)
	}
}

// around are plans of every kind with e as the trial.
func around(e Event) map[string]Event {
	return map[string]Event{
		"itself":             e,
		"composed":           Composed{Events: []Event{e, Gaussian{NoiseMultiplier: 3}}},
		"self-composed":      SelfComposed{Event: e, Count: 3},
		"sampled":            PoissonSampled{SamplingProbability: 0.1, Event: MaxOver{Events: []Event{e, Gaussian{NoiseMultiplier: 400}}}},
		"candidates":         MaxOver{Events: []Event{Gaussian{NoiseMultiplier: 4}, e}},
		"shards":             Parallel{Events: []Event{Gaussian{NoiseMultiplier: 400}, e}},
		"baseline":           Baseline(Poisson{Mean: 15}, e),
		"mean below 1":       Baseline(Poisson{Mean: 0.5}, e),
		"geometric":          Baseline(TruncatedNegativeBinomial{Shape: 1, Success: 0.1}, e),
		"choice among":       Baseline(TruncatedPoisson{Rate: 10}, MaxOver{Events: []Event{e, Gaussian{NoiseMultiplier: 2}}}),
		"variant 1":          Variant1(0.1, Poisson{Mean: 15}, e),
		"variant 2":          Variant2(0.1, Poisson{Mean: 15}, e),
		"final run its own":  SubsetThenRest{SamplingProbability: 0.1, Tune: Baseline(Poisson{Mean: 15}, e), Base: DPSGD(0.01, 2, 500)},
		"variant 1, q 0":     Variant1(0, Poisson{Mean: 15}, e),
		"variant 2, q 1":     Variant2(1, Poisson{Mean: 15}, e),
		"selection in shard": Parallel{Events: []Event{Baseline(Poisson{Mean: 3}, e)}},
	}
}

// TestLineIsThatOfAGaussian: the curve of a Gaussian mechanism is a line, so the Rényi bounds can't tell the two apart.
// (A sampled Gaussian has a formula of its own; around hides the Gaussian from it.)
func TestLineIsThatOfAGaussian(t *testing.T) {
	const slope = 0.02
	lines, gaussians := around(RDPLine{Slope: slope}), around(Gaussian{NoiseMultiplier: math.Sqrt(1 / (2 * slope))})
	for _, mode := range []Mode{Paper, Tight} {
		for name, line := range lines {
			got, want := mustEpsilon(t, line, 1e-5, Options{Mode: mode}), mustEpsilon(t, gaussians[name], 1e-5, Options{Mode: mode})
			if math.Abs(got-want) > 1e-12*want || want == 0 {
				t.Errorf("mode %s, %s: epsilon %v, want %v", mode, name, got, want)
			}
		}
	}
}

// TestLineEndsWithItsOrders: more orders in the options change nothing, and orders outside the line's give no
// guarantee.
func TestLineEndsWithItsOrders(t *testing.T) {
	for name, e := range around(RDPLine{Slope: 0.02, Orders: Orders{Low: 2, High: 24}}) {
		if name == "variant 1, q 0" {
			continue // it has the bound of the line itself
		}
		for _, mode := range []Mode{Paper, Tight} {
			own := mustEpsilon(t, e, 1e-5, Options{Mode: mode, Orders: Orders{Low: 2, High: 24}})
			more := mustEpsilon(t, e, 1e-5, Options{Mode: mode})
			if own != more || math.IsInf(own, 1) {
				t.Errorf("mode %s, %s: epsilon %v by orders to 24, %v by orders to 256", mode, name, own, more)
			}
			beyond, err := Epsilon(e, 1e-5, Options{Mode: mode, Orders: Orders{Low: 25, High: 40}})
			if err != nil || !math.IsInf(beyond.Epsilon, 1) {
				t.Errorf("mode %s, %s: epsilon %v, %v beyond the line's orders", mode, name, beyond.Epsilon, err)
			}
			if d, err := Delta(e, 1, Options{Mode: mode, Orders: Orders{Low: 25, High: 40}}); err != nil || d.Delta != 1 {
				t.Errorf("mode %s, %s: delta %v, %v beyond the line's orders", mode, name, d.Delta, err)
			}
		}
	}
	_, err := CalibrateNoise(8, 1e-5, Options{Mode: Paper, Orders: Orders{Low: 25, High: 40}}, func(noise float64) Event {
		return Composed{Events: []Event{RDPLine{Slope: 0.001, Orders: Orders{Low: 2, High: 24}}, Gaussian{NoiseMultiplier: noise}}}
	})
	if !errors.Is(err, ErrInfeasible) {
		t.Errorf("noise beside a line of other orders: %v, want ErrInfeasible", err)
	}
}

// TestLineInModeBest: no plan around a line costs more than in mode tight, and every kind of plan has a bound by
// privacy-loss distributions, which for a plan with one run after another is the smaller one.
func TestLineInModeBest(t *testing.T) {
	plans := around(RDPLine{Slope: 0.02})
	for _, name := range Every(5, slices.Sorted(maps.Keys(plans))) {
		e := plans[name]
		g, err := Epsilon(e, 1e-5, Options{Mode: Best})
		if err != nil {
			t.Fatal(err)
		}
		if tight := mustEpsilon(t, e, 1e-5, Options{Mode: Tight}); !(g.Epsilon > 0 && g.Epsilon <= tight) {
			t.Errorf("%s: epsilon %v, above %v of mode tight", name, g.Epsilon, tight)
		}
		if !strings.Contains(g.Bound, "line") {
			t.Errorf("%s: bound %q", name, g.Bound)
		}
		// Shards have the bounds of all parts.
		want := 4
		if p, ok := e.(Parallel); ok && len(p.Events) > 1 {
			want = 3
		}
		all, err := Bounds(e, 1e-5, Orders{})
		if err != nil || len(all) != want {
			t.Errorf("%s: bounds %v, %v, want %d", name, all, err, want)
		}
		if least, err := Attained(e, 1e-5); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: at least %v, %v, want ErrInvalid", name, least, err)
		}
	}
	// A line that isn't part of an event leaves its bound as it is.
	e := Variant1(0, Poisson{Mean: 15}, DPSGD(0.01, 2, 500))
	p := e.(SubsetThenRest)
	p.Tune = Baseline(Poisson{Mean: 15}, RDPLine{Slope: 0.02})
	if with, without := mustEpsilon(t, p, 1e-5, Options{Mode: Best}), mustEpsilon(t, e, 1e-5, Options{Mode: Best}); with != without {
		t.Errorf("line that is never run: epsilon %v, want %v", with, without)
	}
}

// TestLineCostsAreBelowRenyi checks by how much the privacy-loss distribution of a line improves on mode tight, which
// has Rényi divergences alone. A line of few orders gains the most: its conversion to delta is far from a Gaussian's.
func TestLineCostsAreBelowRenyi(t *testing.T) {
	for i, c := range []struct {
		line                       RDPLine
		alone, baseline, one, both float64 // maximum ratio to mode tight's epsilon: of the line, variants 1 and 2
	}{
		{RDPLine{Slope: 0.05}, 1, 1, 0.9, 0.9},
		{RDPLine{Slope: 0.02}, 1, 1, 0.9, 0.86},
		{RDPLine{Slope: 0.001, Orders: Orders{Low: 2, High: 24}}, 0.9, 0.94, 0.76, 0.78},
		{RDPLine{Slope: 0.05, Orders: Orders{Low: 2, High: 2}}, 0.78, 0.86, 0.77, 0.8},
	} {
		for k, p := range []struct {
			event Event
			most  float64
		}{
			{c.line, c.alone}, {Baseline(Poisson{Mean: 15}, c.line), c.baseline},
			{Variant1(0.1, Poisson{Mean: 15}, c.line), c.one}, {Variant2(0.1, Poisson{Mean: 15}, c.line), c.both},
		} {
			if long.Leaves(i+k, 4) {
				continue
			}
			best, tight := mustEpsilon(t, p.event, 1e-5, Options{}), mustEpsilon(t, p.event, 1e-5, Options{Mode: Tight})
			if !(best <= p.most*tight) {
				t.Errorf("%#v: epsilon %v, %v of mode tight", p.event, best, tight)
			}
		}
	}
}

// TestLinesBoundWhatIsBelow: the pairs of events around a line have at least the divergences of the pairs of the same
// events around runs below the line.
func TestLinesBoundWhatIsBelow(t *testing.T) {
	for _, c := range []struct {
		run    Event
		orders Orders
	}{
		{Gaussian{NoiseMultiplier: 4}, Orders{Low: 2, High: 256}},
		{DPSGD(0.3, 2, 3), Orders{Low: 5, High: 20}},
	} {
		func(run Event, orders Orders) {
			curve, err := RDP(run, Options{Orders: orders})
			if err != nil {
				t.Fatal(err)
			}
			lines := around(RDPLine{Slope: curve.Slope(orders), Orders: orders})
			plans := around(run)
			for _, name := range Every(5, slices.Sorted(maps.Keys(plans))) {
				plan := plans[name]
				least, _, err := newProfile(plan, 1e-12)
				if err != nil {
					t.Fatal(err)
				}
				most, _, err := newProfile(lines[name], 1e-12)
				if err != nil {
					t.Fatal(err)
				}
				for _, epsilon := range []float64{0, 0.5, 3} {
					if a, b := least.DeltaAt(epsilon), most.DeltaAt(epsilon); a > b*(1+5e-3)+1e-13 {
						t.Errorf("%s, %#v, orders %v, epsilon %v: %v around the run, %v around the line", name, run, orders, epsilon, a, b)
					}
				}
			}
		}(c.run, c.orders)
	}
}

func TestLineIsChecked(t *testing.T) {
	for _, e := range []RDPLine{
		{Slope: -1}, {Slope: math.NaN()}, {Slope: math.Inf(1)}, {Slope: 1, Orders: Orders{Low: 1, High: 9}},
		{Slope: 1, Orders: Orders{Low: 9, High: 8}}, {Slope: 1, Orders: Orders{Low: 2, High: MaxOrder + 1}},
	} {
		err := Validate(Composed{Events: []Event{e}})
		var at *EventError
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &at) || at.Path != "Composed.Events[0].RDPLine" {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if err := Validate(RDPLine{}); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
}

// TestFittedToALine: a candidate that is fitted to a line stays below it at all orders of the line. So no plan around
// the line costs less than the same plan around the fitted run.
func TestFittedToALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := math.Exp(rapid.Float64Range(-7, 0).Draw(t, "log slope"))
		rate := math.Exp(rapid.Float64Range(-6, 0).Draw(t, "log rate"))
		steps := rapid.IntRange(1, 3000).Draw(t, "steps")
		orders := Orders{Low: 2, High: rapid.IntRange(2, 40).Draw(t, "high")}
		o := Options{Mode: Paper, Orders: orders}

		noise, err := CalibrateNoiseToLine(slope, o, func(noise float64) Event { return DPSGD(rate, noise, steps) })
		if err != nil {
			t.Fatal(err)
		}
		most, err := CalibrateStepsToLine(slope, o, func(steps int) Event { return DPSGD(rate, noise, steps) })
		if err != nil || most < steps {
			t.Fatalf("%d steps, %v, where %d fit", most, err, steps)
		}
		line := RDPLine{Slope: slope, Orders: orders}
		for _, run := range []Event{DPSGD(rate, noise, steps), DPSGD(rate, noise, most)} {
			above, _ := RDP(line, o)
			below, _ := RDP(run, o)
			for a := 2; a <= orders.High; a++ {
				if !(below[a] <= above[a]) {
					t.Errorf("order %d: %v is above the line's %v", a, below[a], above[a])
				}
			}
			lines := around(line)
			for name, plan := range around(run) {
				for _, mode := range []Mode{Paper, Tight} {
					o := Options{Mode: mode, Orders: orders}
					least, most := mustEpsilon(t, plan, 1e-5, o), mustEpsilon(t, lines[name], 1e-5, o)
					if !(least <= most*(1+1e-12)) {
						t.Errorf("mode %s, %s: %v around the line, %v around what is below it", mode, name, most, least)
					}
				}
			}
		}
		closer, err := RDP(DPSGD(rate, noise*(1-1e-6), steps), o)
		if err != nil || closer.Slope(orders) <= slope {
			t.Errorf("noise %v is enough too, %v", noise*(1-1e-6), err)
		}
	})
}
