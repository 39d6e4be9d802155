package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// TestRoundedAway has parameters so near the ends of their ranges that masses once got lost in rounding: the bounds
// were NaN and passed for 0, or below the truth, or the computation ran out of memory or panicked.
func TestRoundedAway(t *testing.T) {
	best := Options{Mode: Best}
	for i, noise := range []float64{0.1, 0.15, 0.2, 0.25} {
		for k, units := range []float64{1, 5, 8, 16, 64, 1000, 1e5} {
			if long.Leaves(i+k, 4) {
				continue
			}
			rate := 1 - units*0x1p-53
			e := DPSGD(rate, noise, 1)
			for _, event := range []Event{e, SelectBest{e, TruncatedNegativeBinomial{1, 0.999999}}, MaxOver{[]Event{e, Gaussian{1}}}} {
				g, err := Delta(event, 1, best)
				if truth := gaussianDelta(1/noise, 1) * (1 - 1e-9); err != nil || !(g.Delta >= truth) {
					t.Errorf("%v: delta %v, %v, want %v", event, g.Delta, err, truth)
				}
			}
		}
	}
	one := mustEpsilon(t, Gaussian{1}, 1e-5, best)
	for _, e := range []Event{DPSGD(1e-300, 0.03, 1), DPSGD(5e-324, 1, 1), DPSGD(1e-320, 0.1, 1)} {
		if both := mustEpsilon(t, Composed{[]Event{e, Gaussian{1}}}, 1e-5, best); !(both >= one*(1-1e-9)) {
			t.Errorf("%v and a Gaussian: epsilon %v, below the Gaussian's %v", e, both, one)
		}
	}
	for _, shape := range []float64{5e-324, -5e-324, 1e-323, 1e-310, 1e-20} {
		k, limit := TruncatedNegativeBinomial{shape, 0.2}, TruncatedNegativeBinomial{0, 0.2}
		if math.Abs(k.Expected()/limit.Expected()-1) > 1e-12 {
			t.Errorf("shape %v: mean %v, want %v", shape, k.Expected(), limit.Expected())
		}
	}
	for _, e := range []Event{
		Baseline(TruncatedNegativeBinomial{-0.999, 1e-9}, Gaussian{1}),
		SelfComposed{Parallel{[]Event{Gaussian{0.0625}, Gaussian{0.0625}}}, 2},
		SelfComposed{SelectBest{Gaussian{0.08}, Poisson{5}}, 2},
	} {
		if g, err := Epsilon(e, 1e-5, best); err != nil || !(g.Epsilon > 0) {
			t.Errorf("%v: %v, %v", e, g, err)
		}
	}
	plan := Variant1(0.1, Poisson{15}, DPSGD(0.01, 2, 5000))
	for i, epsilon := range []float64{690, 709, 710, 1e4, math.MaxFloat64} {
		for k, e := range []Event{plan, Variant2(0.1, Poisson{15}, DPSGD(0.01, 2, 5000)), SubsetThenRest{1 - 0x1p-53, Gaussian{1}, Gaussian{2}}} {
			if long.Leaves(3*i+k, 14) {
				continue
			}
			if g, err := Delta(e, epsilon, best); err != nil || !(g.Delta > 0 && g.Delta < 1e-20) {
				t.Errorf("%v at epsilon %v: %v", fmt.Sprint(e), epsilon, g.Delta)
			}
		}
	}
}

// Subnormal numbers are rounded up too, by mpmath with 800 digits: products of rates, curves, and results of both.
func TestSubnormalsAreRoundedUp(t *testing.T) {
	rate := func(q float64, e Event) Event { return PoissonSampled{SamplingProbability: q, Event: e} }
	for _, c := range []struct {
		event Event
		want  float64 // at order 2
	}{
		{rate(1e-200, rate(7.3e-124, Gaussian{NoiseMultiplier: 0.0258})), 14.21417},
		{SelfComposed{Event: Gaussian{NoiseMultiplier: 3.7e161}, Count: 1 << 62}, 3.369e-305},
		{Gaussian{NoiseMultiplier: 3.7e161}, 7.3e-324},
	} {
		for _, mode := range []Mode{Paper, Tight} {
			curve, err := RDP(c.event, Options{Mode: mode})
			if err != nil || !(curve[2] >= c.want) {
				t.Errorf("%+v, mode %s: %v at order 2, %v, want %v or more", c.event, mode, curve[2], err, c.want)
			}
		}
	}
}
