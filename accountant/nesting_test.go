package accountant

import (
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// Events that describe one mechanism by other nesting cost the same, to the last bit, in every mode.
func TestNestingsOfOneMechanism(t *testing.T) {
	run, query := DPSGD(0.01, 2, 5000), Event(Gaussian{NoiseMultiplier: 30})
	k := Poisson{Mean: 15}
	one, two := Variant1(0.1, k, run), Variant2(0.1, k, run).(Composed)
	best := SelectBest{Event: run, Repetitions: k}
	all := func(events ...Event) Event { return Composed{Events: events} }
	for name, same := range map[string][]Event{
		"variant 1":               {one, all(one), all(all(), SelfComposed{Event: one, Count: 1}), GroupOf{Event: all(one), Size: 1}, MaxOver{Events: []Event{one, one}}},
		"variant 2":               {two, all(two), all(two.Events[0], all(run)), all(all(), two, SelfComposed{Event: query, Count: 0}), PoissonSampled{SamplingProbability: 1, Event: two}},
		"variant 1, then a query": {all(one, query), all(all(one), all(all(query)))},
		"variant 2, then a query": {all(two, query), all(two.Events[0], run, query), all(two.Events[0], query, run), all(two.Events[0], all(run, query))},
		"baseline, then a run":    {all(best, run), all(all(best), run), all(best, DPSGD(0.01, 2, 2000), DPSGD(0.01, 2, 3000)), all(PoissonSampled{SamplingProbability: 1, Event: best}, run)},
		"a run, then variant 2":   {all(run, two), all(run, two.Events[0], run), all(SelfComposed{Event: run, Count: 1}, two)},
		"variant 2 twice":         {all(two, two), SelfComposed{Event: two, Count: 2}, all(two.Events[0], run, two.Events[0], run), SelfComposed{Event: all(two, all()), Count: 2}},
		"a drawn candidate": {
			OneOf{Events: []Event{run, query, run}, Weights: []float64{1, 2, 1}}, OneOf{Events: []Event{query, run}},
			OneOf{Events: []Event{OneOf{Events: []Event{run, query}}, all(query), run, DPSGD(1, 1, 1)}, Weights: []float64{4, 2, 2, 0}},
		},
	} {
		want := map[Mode]float64{}
		for i, e := range same {
			if got, want := identity(normal(e)), identity(normal(same[0])); got != want {
				t.Errorf("%s, nesting %d: %s, want %s", name, i, got, want)
			}
			for _, mode := range []Mode{Paper, Tight, Best} {
				if mode == Best && (i > 0 && i < len(same)-1 || long.Leaves(len(same), 2)) {
					continue // it takes long
				}
				got := mustEpsilon(t, e, 1e-5, Options{Mode: mode})
				if i == 0 {
					want[mode] = got
				}
				if got != want[mode] {
					t.Errorf("%s, %s, nesting %d: epsilon %v, want %v", name, mode, i, got, want[mode])
				}
			}
		}
	}
}

// An event before a tuning may change its orders of scores, so it doesn't count as the final run.
func TestOrderOfCompositionsMatters(t *testing.T) {
	run := DPSGD(0.01, 2, 5000)
	two := Variant2(0.1, Poisson{Mean: 45}, run).(Composed)
	before := mustEpsilon(t, Composed{Events: []Event{two.Events[1], two.Events[0]}}, 1e-5, Options{})
	after := mustEpsilon(t, two, 1e-5, Options{})
	if !(before > after*1.01) {
		t.Errorf("epsilon %v with the run before the tuning, and %v after it", before, after)
	}
	for _, e := range []Event{Composed{Events: []Event{two.Events[1], two.Events[0]}}, Composed{Events: []Event{Gaussian{NoiseMultiplier: 1}, two}}} {
		if n, ok := normal(e).(Composed); !ok || isTuning(n.Events[0]) {
			t.Errorf("%#v begins with a tuning: %#v", e, n)
		}
	}
}

// The rows of a group may be in both of two equal shards, which then cost more than one.
func TestEqualShardsOfAGroup(t *testing.T) {
	run := DPSGD(0.02, 1, 200)
	group := func(e Event) float64 { return mustEpsilon(t, GroupOf{Event: e, Size: 2}, 1e-5, Options{}) }
	two := group(Parallel{Events: []Event{run, run}})
	if want := group(Composed{Events: []Event{run, run}}); !(two >= want*(1-1e-4)) { // their grids differ
		t.Errorf("two shards cost a group %v, want %v, what both together cost", two, want)
	}
	if one := group(run); !(two > one) {
		t.Errorf("two shards cost a group %v, and one costs %v", two, one)
	}
}
