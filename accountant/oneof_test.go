package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// The delta of a draw among Gaussian mechanisms is the average of their deltas.
func TestDrawnGaussians(t *testing.T) {
	noises, weights := []float64{1, 2, 8}, []float64{1, 3, 16}
	o := OneOf{Weights: weights}
	for _, noise := range noises {
		o.Events = append(o.Events, Gaussian{NoiseMultiplier: noise})
	}
	for _, epsilon := range []float64{0, 0.1, 0.5, 1, 2, 4} {
		want := 0.0
		for i, noise := range noises {
			want += weights[i] / 20 * gaussianDelta(1/noise, epsilon)
		}
		g, err := Delta(o, epsilon, Options{})
		if err != nil || !(g.Delta >= want*(1-1e-12) && g.Delta <= want*1.01) {
			t.Errorf("epsilon %v: delta %v, want %v, %v", epsilon, g.Delta, want, err)
		}
	}
}

// The Rényi curve of a draw among Gaussian mechanisms is log(sum of w e^{(a-1) a/(2 s^2)})/(a-1), and in mode Paper the
// largest of their curves.
func TestDrawnGaussiansRDP(t *testing.T) {
	o := OneOf{Events: []Event{Gaussian{NoiseMultiplier: 1}, Gaussian{NoiseMultiplier: 3}}, Weights: []float64{1, 9}}
	tight, err := RDP(o, Options{Mode: Tight})
	if err != nil {
		t.Fatal(err)
	}
	paper, err := RDP(o, Options{Mode: Paper})
	if err != nil {
		t.Fatal(err)
	}
	for a := 2; a <= 64; a++ {
		x := float64(a)
		want := math.Log(0.1*math.Exp((x-1)*x/2)+0.9*math.Exp((x-1)*x/18)) / (x - 1)
		if a <= 32 && math.Abs(tight[a]/want-1) > 1e-12 {
			t.Errorf("order %d: %v, want %v", a, tight[a], want)
		}
		if math.Abs(paper[a]/(x/2)-1) > 1e-12 {
			t.Errorf("order %d in mode paper: %v, want %v", a, paper[a], x/2)
		}
	}
}

// A draw costs no more than its costliest candidate, and no less than that candidate's share. More weight on a costlier
// candidate raises the cost.
func TestDrawnTrialsCostLess(t *testing.T) {
	cheap, dear, k := DPSGD(0.01, 4, 300), DPSGD(0.01, 1.5, 300), Poisson{Mean: 8}
	for name, plan := range map[string]func(trial, final Event) Event{
		"baseline":  func(trial, _ Event) Event { return Baseline(k, trial) },
		"variant 1": func(trial, final Event) Event { return Variant1Of(0.2, k, trial, final) },
		"variant 2": func(trial, final Event) Event { return Variant2Of(0.2, k, trial, final) },
	} {
		for _, mode := range []Mode{Tight, Best} {
			most := mustEpsilon(t, plan(MaxOver{Events: []Event{cheap, dear}}, MaxOver{Events: []Event{cheap, dear}}), 1e-5, Options{Mode: mode})
			before := math.Inf(1)
			for _, weight := range Every(2, []float64{1, 0.9, 0.5, 0.1, 0}) {
				drawn := OneOf{Events: []Event{cheap, dear}, Weights: []float64{1 - weight, weight}}
				epsilon := mustEpsilon(t, plan(drawn, MaxOver{Events: []Event{cheap, dear}}), 1e-5, Options{Mode: mode})
				if !(epsilon < before) {
					t.Errorf("%s, %s: epsilon %v with weight %v, and %v with more", name, mode, epsilon, weight, before)
				}
				before = epsilon
				if weight == 1 && math.Abs(epsilon/most-1) > 1e-4 { // their grids differ
					t.Errorf("%s, %s: epsilon %v where the dear candidate is always drawn, %v for the maximum", name, mode, epsilon, most)
				}
			}
		}
	}
}

func TestWeightsAreChecked(t *testing.T) {
	two := []Event{Gaussian{NoiseMultiplier: 1}, Gaussian{NoiseMultiplier: 2}}
	for name, o := range map[string]OneOf{
		"no events": {}, "one weight": {two, []float64{1}}, "three": {two, []float64{1, 1, 1}}, "empty": {two, []float64{}},
		"all 0": {two, []float64{0, 0}}, "below 0": {two, []float64{2, -1}}, "NaN": {two, []float64{math.NaN(), 1}},
		"infinite": {two, []float64{math.Inf(1), 1}}, "too large together": {two, []float64{math.MaxFloat64, math.MaxFloat64}},
	} {
		var at *EventError
		if err := Validate(SelectBest{Event: o, Repetitions: Poisson{Mean: 1}}); !errors.As(err, &at) || at.Path != "SelectBest.Event.OneOf" || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rare candidate still counts if it is the only one that costs anything.
func TestRareCandidate(t *testing.T) {
	for _, rare := range []float64{1e-3, 1e-100, 1e-300, math.SmallestNonzeroFloat64} {
		o := OneOf{Events: []Event{Gaussian{NoiseMultiplier: 0.05}, Composed{}}, Weights: []float64{rare, 1}}
		if o.free() {
			t.Errorf("weight %v: free", rare)
		}
		g, err := Delta(o, 1, Options{})
		if err != nil || !(g.Delta >= 0.99*rare && g.Delta > 0) || rare >= 1e-100 && g.Delta > 2*math.Max(rare, leastProbability) {
			t.Errorf("weight %v: delta %v, %v", rare, g.Delta, err)
		}
	}
}

// Weights count in proportion, equal events count together, and an event of weight 0 doesn't count.
func TestDrawsOfOneLaw(t *testing.T) {
	long.Check(t, 6, func(t *rapid.T) {
		a, b := Event(Gaussian{NoiseMultiplier: rapid.Float64Range(0.5, 4).Draw(t, "a")}), Event(DPSGD(0.1, rapid.Float64Range(0.5, 4).Draw(t, "b"), 3))
		x, y := rapid.Float64Range(0.01, 1).Draw(t, "weight of a"), rapid.Float64Range(0.01, 1).Draw(t, "weight of b")
		scale := rapid.Float64Range(0.001, 1000).Draw(t, "scale")
		want := OneOf{Events: []Event{a, b}, Weights: []float64{x, y}}
		for _, o := range []OneOf{
			{[]Event{b, a}, []float64{y, x}},
			{[]Event{a, b}, []float64{scale * x, scale * y}},
			{[]Event{a, b, a, DPSGD(1, 1, 1)}, []float64{x / 4, y, 3 * x / 4, 0}},
			{[]Event{OneOf{[]Event{a, b}, []float64{x, y / 2}}, b}, []float64{x + y/2, y / 2}},
		} {
			for _, mode := range []Mode{Paper, Tight, Best} {
				p, q := mustEpsilon(t, o, 1e-6, Options{Mode: mode}), mustEpsilon(t, want, 1e-6, Options{Mode: mode})
				if math.Abs(p-q) > 1e-9*q {
					t.Fatalf("%s: %v costs %v, and %v costs %v", mode, o, p, want, q)
				}
			}
		}
	})
}
