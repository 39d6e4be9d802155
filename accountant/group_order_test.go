package accountant

import (
	"errors"
	"testing"
)

// Rows of one unit may be in several shards, also in equal ones: a group costs at least what one row in each costs.
func TestGroupWithARowInEveryShard(t *testing.T) {
	dear := Event(Gaussian{NoiseMultiplier: 0.15})
	for name, shard := range map[string]Event{
		"drawn":  OneOf{Events: []Event{dear, Composed{}}, Weights: []float64{1, 9}},
		"tuning": SelectBest{Event: dear, Repetitions: Poisson{Mean: 0.1}},
	} {
		both := Composed{Events: []Event{shard, shard}}
		for nesting, e := range map[string]Event{
			"shards": Parallel{Events: []Event{shard, shard}}, "nested": Parallel{Events: []Event{shard, Parallel{Events: []Event{shard}}, Composed{}}},
			"in a maximum": MaxOver{Events: []Event{shard, Parallel{Events: []Event{shard, shard}}}},
		} {
			for _, epsilon := range []float64{1, 5} {
				got, want := deltaOf(t, GroupOf{Event: e, Size: 2}, epsilon), deltaOf(t, both, epsilon)
				if !(got >= want*(1-1e-6)) {
					t.Errorf("%s, %s, epsilon %v: delta %v, and %v for one row in each of two shards", name, nesting, epsilon, got, want)
				}
			}
		}
	}
}

// A tuning that comes first only after groups are spread, by the sorting of events, doesn't count as the first event:
// an event before it may decide its order of scores.
func TestGroupsKeepWhatComesBeforeATuning(t *testing.T) {
	run, k := DPSGD(0.1, 2, 10), Poisson{Mean: 5}
	best := SelectBest{Event: run, Repetitions: k}
	group := func(e Event) Event { return GroupOf{Event: e, Size: 2} }
	other := SelectBest{Event: run, Repetitions: Poisson{Mean: 6}}
	shards := Parallel{Events: []Event{best, other}}
	alike := MaxOver{Events: []Event{best, SelectBest{Event: SelectBest{Event: run, Repetitions: TruncatedNegativeBinomial{Shape: 1, Success: 1}}, Repetitions: k}}}
	for name, x := range map[string]struct {
		e     Event
		first bool
	}{
		"run, group":               {Composed{Events: []Event{run, group(best)}}, false},
		"group, run":               {Composed{Events: []Event{group(best), run}}, true},
		"run, sampled group":       {Composed{Events: []Event{PoissonSampled{SamplingProbability: 0.5, Event: Gaussian{NoiseMultiplier: 2}}, PoissonSampled{SamplingProbability: 0.1, Event: group(best)}}}, false},
		"sampled group, run":       {Composed{Events: []Event{PoissonSampled{SamplingProbability: 0.1, Event: group(best)}, run}}, true},
		"group of run, tuning":     {group(Composed{Events: []Event{run, best}}), false},
		"group of tuning, run":     {group(Composed{Events: []Event{best, run}}), true},
		"group of run, shards":     {group(Composed{Events: []Event{run, shards}}), false},
		"group of shards, run":     {group(Composed{Events: []Event{shards, run}}), false}, // either may run first
		"group of shards":          {group(shards), false},
		"run, group of equals":     {Composed{Events: []Event{run, MaxOver{Events: []Event{group(alike), group(best)}}}}, false},
		"run, groups of two sizes": {Composed{Events: []Event{run, group(other), group(best)}}, false},
	} {
		ready, _ := prepared(x.e)
		c, ok := ready.(Composed)
		if first := ok && isTuning(c.Events[0]); first != x.first {
			t.Errorf("%s: begins with a tuning: %v, want %v: %#v", name, first, x.first, ready)
		}
	}
}

// A group reaches every part of an event.
func TestGroupsReachEveryPart(t *testing.T) {
	tight := Options{Mode: Tight}
	curve := func(e Event) Curve {
		c, err := RDP(e, tight)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	run, query, dear := DPSGD(0.1, 4, 10), Event(Gaussian{NoiseMultiplier: 6}), Event(Gaussian{NoiseMultiplier: 4})
	tuning := PoissonSampled{SamplingProbability: 0.1, Event: SelectBest{Event: run, Repetitions: Poisson{Mean: 2}}}
	group := func(e Event, size int) Event { return GroupOf{Event: e, Size: size} }
	for name, x := range map[string]struct {
		e     Event
		least []Event // its cost is at least that of these together
	}{
		"all that comes after a sampled tuning": {group(Composed{Events: []Event{tuning, query, dear}}, 2), []Event{group(query, 2), group(dear, 2)}},
		"a group of groups":                     {group(group(query, 2), 3), []Event{Gaussian{NoiseMultiplier: 1}}},
		"a group in a draw":                     {OneOf{Events: []Event{group(query, 2), group(query, 3)}}, []Event{group(query, 2)}},
		"a draw in a group":                     {group(OneOf{Events: []Event{query, dear}}, 2), []Event{group(query, 2)}},
	} {
		got, want := curve(x.e), make(Curve, 257)
		for _, e := range x.least {
			for a, v := range curve(e) {
				want[a] += v
			}
		}
		for a := 2; a < len(got); a++ {
			if !(got[a] >= want[a]*(1-1e-9)) {
				t.Errorf("%s, order %d: %v, want at least %v", name, a, got[a], want[a])
				break
			}
		}
	}
	line := OneOf{Events: []Event{RDPLine{Slope: 0.1, Orders: Orders{Low: 2, High: 8}}, query}}
	if err := Validate(group(line, 2)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a group of a draw of a line: %v", err)
	}
}
