package accountant

import (
	"math"
	"testing"
)

// A normal form loses nothing of a composition: Rényi curves add up.
func TestNormalFormsKeepEveryPart(t *testing.T) {
	query, run, k := Event(Gaussian{NoiseMultiplier: 7}), DPSGD(0.1, 2, 10), Poisson{Mean: 5}
	best, one, two := SelectBest{Event: run, Repetitions: k}, Variant1(0.1, k, run), Variant2(0.2, k, run)
	times := func(e Event, n int) Event { return SelfComposed{Event: e, Count: n} }
	all := func(events ...Event) Event { return Composed{Events: events} }
	for name, x := range map[string]struct {
		e     Event
		parts []Event // with repetition
	}{
		"counts":              {all(query, times(query, 3), run, all(query, run)), []Event{query, query, query, query, query, run, run}},
		"a tuning again":      {all(best, run, best, times(best, 2)), []Event{best, best, best, best, run}},
		"a tuning, repeated":  {times(best, 3), []Event{best, best, best}},
		"variant 1 repeated":  {times(all(one, query), 3), []Event{one, one, one, query, query, query}},
		"variant 2 repeated":  {times(two, 2), []Event{two, two}},
		"all kinds":           {all(times(all(one, best, query), 2), two), []Event{one, one, best, best, query, query, two}},
		"sums of repetitions": {times(all(times(query, 2), query), 4), []Event{query, query, query, query, query, query, query, query, query, query, query, query}},
		"fixed":               {all(SelectBest{Event: all(query, run), Repetitions: Fixed{3}}, query), []Event{query, query, query, query, run, run, run}},
		"all of the data":     {all(SubsetThenRest{SamplingProbability: 1, Tune: query, Base: run}, SubsetThenRest{Tune: best, Base: run}), []Event{query, run}},
		"a sample of a sample": {PoissonSampled{SamplingProbability: 0.5, Event: all(PoissonSampled{SamplingProbability: 0.25, Event: query})},
			[]Event{PoissonSampled{SamplingProbability: 0.125, Event: query}}},
	} {
		for _, mode := range []Mode{Paper, Tight} {
			got, err := RDP(x.e, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			want := make(Curve, len(got))
			for _, part := range x.parts {
				c, err := RDP(part, Options{Mode: mode})
				if err != nil {
					t.Fatal(err)
				}
				for a := range want {
					want[a] += c[a]
				}
			}
			for a := 2; a < len(got); a++ {
				if !(math.Abs(got[a]-want[a]) <= 1e-9*want[a]) {
					t.Errorf("%s, %s, order %d: %v, want %v", name, mode, a, got[a], want[a])
					break
				}
			}
		}
	}
}

// Counts that don't fit an int are kept as they are.
func TestNormalFormsKeepCountsThatOverflow(t *testing.T) {
	query := Event(Gaussian{NoiseMultiplier: 1e12})
	many := SelfComposed{Event: query, Count: math.MaxInt}
	one, err := RDP(many, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		e     Event
		times float64
	}{
		"a sum":     {Composed{Events: []Event{many, query, many}}, 2},
		"a product": {SelfComposed{Event: SelfComposed{Event: query, Count: math.MaxInt/2 + 1}, Count: 4}, 2},
		"both":      {SelfComposed{Event: Composed{Events: []Event{many, many}}, Count: 3}, 6},
	} {
		got, err := RDP(x.e, Options{})
		if err != nil || !(math.Abs(got[2]/one[2]/x.times-1) < 1e-9) {
			t.Errorf("%s: %v, %v times %v, want %v times, %v", name, got[2], got[2]/one[2], one[2], x.times, err)
		}
	}
}

// A draw keeps its weights inside groups, and in the delta of a trial.
func TestDrawsKeepTheirWeights(t *testing.T) {
	dear, cheap := Event(Gaussian{NoiseMultiplier: 1}), Event(Gaussian{NoiseMultiplier: 4})
	drawn := func(w ...float64) OneOf { return OneOf{Events: []Event{dear, cheap}, Weights: w} }
	group, err := RDP(GroupOf{Event: drawn(1, 7), Size: 2}, Options{Mode: Tight})
	want, other := RDP(OneOf{Events: []Event{Gaussian{NoiseMultiplier: 0.5}, Gaussian{NoiseMultiplier: 2}}, Weights: []float64{1, 7}}, Options{Mode: Tight})
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	for a := 2; a < 33; a++ {
		if !(math.Abs(group[a]-want[a]) <= 1e-9*want[a]) {
			t.Errorf("a group, order %d: %v, want %v", a, group[a], want[a])
		}
	}

	// Where the curve gives no bound, only the deltas of a trial are known: their average counts, in mode paper the
	// largest.
	r := newCurves(Options{Mode: Tight, Orders: Orders{Low: 2, High: 32}})
	d, c, hat := r.deltaHat(dear), r.deltaHat(cheap), r.deltaHat(drawn(1, 3))
	paper := newCurves(Options{Mode: Paper, Orders: Orders{Low: 2, High: 32}})
	high, largest := paper.deltaHat(dear), paper.deltaHat(drawn(1, 3))
	for a := 2; a <= 32; a++ {
		if want := (d[a] + 3*c[a]) / 4; !(hat[a] >= want && hat[a] <= want*(1+1e-9)) {
			t.Errorf("deltaHat %d: %v, want %v", a, hat[a], want)
		}
		if largest[a] != high[a] {
			t.Errorf("deltaHat %d in mode paper: %v, want %v", a, largest[a], high[a])
		}
	}
	if (OneOf{Events: []Event{dear, Composed{}}}).free() {
		t.Error("a draw of something that costs is free")
	}
}

// The charged probabilities are at least the draw's probabilities, with any rounding.
func TestChargedProbabilities(t *testing.T) {
	for _, weights := range [][]float64{{1, 2}, {1, 1, 1}, {1e-300, 1}, {0.1, 0.2, 0.3, 0.4}, {3e300, 1e-3}} {
		o := OneOf{Weights: weights}
		total := 0.0
		for i, w := range weights {
			o.Events = append(o.Events, Gaussian{NoiseMultiplier: float64(i + 1)})
			total += w
		}
		_, charged := o.charged()
		for i, p := range charged {
			if want := weights[i] / total; !(p >= want*(1+0x1p-45) && p >= leastProbability && p <= want*(1+1e-9)+2*leastProbability) {
				t.Errorf("weights %v: %v for event %d, want %v and a little more", weights, p, i, want)
			}
		}
	}
}

// All events after a tuning count as its final run.
func TestLaterEventsAreTheFinalRun(t *testing.T) {
	query, run, k := Event(Gaussian{NoiseMultiplier: 7}), DPSGD(0.1, 2, 10), Poisson{Mean: 5}
	for name, first := range map[string]Event{
		"baseline": SelectBest{Event: run, Repetitions: k}, "sampled": PoissonSampled{SamplingProbability: 0.1, Event: SelectBest{Event: run, Repetitions: k}},
		"variant 1": Variant1(0.1, k, run),
	} {
		c := normal(Composed{Events: []Event{first, query, run}}).(Composed)
		if !isTuning(c.Events[0]) || identity(c.Events[0]) != identity(first) {
			t.Errorf("%s: begins with %#v", name, c.Events[0])
		}
		if later := c.later(); identity(normal(later)) != identity(normal(Composed{Events: []Event{run, query}})) {
			t.Errorf("%s: later events %#v", name, later)
		}
	}
	for _, e := range []Event{PoissonSampled{SamplingProbability: 0.5, Event: MaxOver{Events: []Event{query, run}}}, MaxOver{Events: []Event{query, run}}, query, run} {
		if isTuning(e) {
			t.Errorf("%#v is no tuning", e)
		}
	}
}

// A plan with later events costs no less than its parts: no less than the tuning alone, if the later events cost
// little, and no less than the later events, if the tuning costs little.
func TestLaterEventsAndTuningBothCount(t *testing.T) {
	k := Poisson{Mean: 3}
	plans := func(run Event) map[string]Event {
		best := SelectBest{Event: run, Repetitions: k}
		return map[string]Event{"baseline": best, "sampled": PoissonSampled{SamplingProbability: 0.3, Event: best}, "variant 1": SubsetThenRest{SamplingProbability: 0.3, Tune: best, Base: run}}
	}
	delta := func(e Event) float64 { return deltaOf(t, e, 2) }
	after := []Event{Gaussian{NoiseMultiplier: 0.8}, Gaussian{NoiseMultiplier: 0.9}}
	alone := delta(Composed{Events: after})
	for name, first := range plans(Gaussian{NoiseMultiplier: 30}) {
		if got := delta(Composed{Events: append([]Event{first}, after...)}); !(got >= alone*(1-0.02)) {
			t.Errorf("%s: delta %v, and %v of the later events alone", name, got, alone)
		}
	}
	for name, first := range plans(Gaussian{NoiseMultiplier: 1}) {
		tuning := delta(first)
		if got := delta(Composed{Events: []Event{first, Gaussian{NoiseMultiplier: 60}, Gaussian{NoiseMultiplier: 70}}}); !(got >= tuning*(1-0.02)) {
			t.Errorf("%s: delta %v, and %v of the tuning alone", name, got, tuning)
		}
	}
}
