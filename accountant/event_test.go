package accountant

import (
	"errors"
	"math"
	"testing"
)

func TestCountsThatOverflow(t *testing.T) {
	e := SelfComposed{Event: SelfComposed{Event: DPSGD(0.01, 1, 10), Count: 1 << 40}, Count: 1 << 40}
	g, err := Epsilon(e, 1e-5, Options{Mode: Best})
	if err == nil && g.Epsilon < 1e6 {
		t.Errorf("epsilon %v", g.Epsilon)
	}
}

// Validate finds invalid values in every part of an event, and names their path.
func TestPartsAreChecked(t *testing.T) {
	wrong, good := Event(Gaussian{NoiseMultiplier: -1}), Event(Gaussian{NoiseMultiplier: 1})
	for want, e := range map[string]Event{
		"Gaussian":                                         Gaussian{NoiseMultiplier: math.Inf(1)},
		"SelfComposed":                                     SelfComposed{Event: good, Count: -1},
		"SelfComposed.Event.Gaussian":                      SelfComposed{Event: wrong},
		"Composed.Events[1].Gaussian":                      Composed{Events: []Event{good, wrong}},
		"PoissonSampled.Event.Gaussian":                    PoissonSampled{Event: wrong},
		"SelectBest.Event.Gaussian":                        SelectBest{Event: wrong, Repetitions: Poisson{Mean: 2}},
		"SubsetThenRest.Tune.Gaussian":                     SubsetThenRest{Tune: wrong, Base: good},
		"SubsetThenRest.Base.Gaussian":                     SubsetThenRest{Tune: good, Base: wrong},
		"MaxOver.Events[0].Gaussian":                       MaxOver{Events: []Event{wrong, good}},
		"Parallel.Events[1].Gaussian":                      Parallel{Events: []Event{good, wrong}},
		"MaxOver":                                          MaxOver{},
		"Parallel":                                         Parallel{},
		"SelfComposed.Event.PoissonSampled.Event.Gaussian": SelfComposed{Event: PoissonSampled{Event: wrong}},
	} {
		var got *EventError
		if err := Validate(e); !errors.As(err, &got) || got.Path != want || !errors.Is(err, ErrInvalid) {
			t.Errorf("%#v: %v, want an error of %s", e, err, want)
		}
	}
}

// The theorems of a bound are named outermost first, each once.
func TestBoundsNameTheirTheorems(t *testing.T) {
	run := DPSGD(0.1, 2, 3)
	for want, e := range map[string]Event{
		"Gaussian mechanism":                 SelfComposed{Event: Gaussian{NoiseMultiplier: 1}, Count: 2},
		"Poisson-sampled Gaussian mechanism": Composed{Events: []Event{run, run}},
		"variant 1, tuning with Poisson repetitions, Poisson-sampled Gaussian mechanism":                                         Variant1(0.1, Poisson{Mean: 1}, run),
		"amplification by Poisson sampling, tuning with Poisson repetitions of mean below 1, Poisson-sampled Gaussian mechanism": Variant2(0.1, Poisson{Mean: 0.5}, run),
		"tuning with truncated Poisson repetitions, Poisson-sampled Gaussian mechanism":                                          Baseline(TruncatedPoisson{Rate: 2}, run),
		"tuning with binomial repetitions, Gaussian mechanism":                                                                   Baseline(Binomial{Trials: 5, Probability: 0.5}, Gaussian{NoiseMultiplier: 1}),
		"tuning with truncated negative binomial repetitions, maximum over candidates, line above RDP, Gaussian mechanism": Baseline(
			TruncatedNegativeBinomial{Shape: 1, Success: 0.5}, MaxOver{Events: []Event{RDPLine{Slope: 1}, Gaussian{NoiseMultiplier: 1}, RDPLine{Slope: 2}}}),
		"parallel composition, amplification by Poisson sampling, line above RDP": Parallel{Events: []Event{
			PoissonSampled{SamplingProbability: 0.5, Event: PoissonSampled{SamplingProbability: 0.5, Event: RDPLine{Slope: 1}}}}},
	} {
		g, err := Epsilon(e, 1e-5, Options{Mode: Paper})
		if err != nil || g.Bound != "Rényi: "+want {
			t.Errorf("%#v: %q, %v; want %q", e, g.Bound, err, want)
		}
	}
}

// Events that describe one mechanism in two ways have one bound in every mode.
func TestEventsOfOneMechanism(t *testing.T) {
	const k, q = 5, 0.2
	run, other, one := DPSGD(0.05, 3, 40), DPSGD(0.2, 3, 4), Event(Gaussian{NoiseMultiplier: 2})
	step, all, trials := run.(SelfComposed).Event, SelfComposed{Event: run, Count: k}, Poisson{Mean: 5}
	once := TruncatedNegativeBinomial{Shape: 2, Success: 1}
	sample := func(rate float64, e Event) Event { return PoissonSampled{SamplingProbability: rate, Event: e} }
	both := func(events ...Event) Event { return Composed{Events: events} }
	for name, c := range map[string][2]Event{
		"runs of runs":             {SelfComposed{Event: SelfComposed{Event: step, Count: 8}, Count: 5}, run},
		"a rate of 0":              {SubsetThenRest{SamplingProbability: 0, Tune: other, Base: run}, run},
		"a rate of 1":              {SubsetThenRest{SamplingProbability: 1, Tune: run, Base: other}, run},
		"one candidate":            {MaxOver{Events: []Event{run}}, run},
		"one candidate of a trial": {Baseline(trials, MaxOver{Events: []Event{run}}), Baseline(trials, run)},
		"one shard":                {Parallel{Events: []Event{run}}, run},
		"a sample of one":          {sample(0.5, sample(0.2, one)), sample(0.1, one)},
		"all of the data":          {DPSGD(1, 4, 4), one},
		"nothing beside it":        {both(both(), run), run},
		"variant 1 at rate 0":      {Variant1(0, trials, run), run},
		"variant 2 at rate 0":      {Variant2(0, trials, run), run},
		"variant 1 at rate 1":      {Variant1(1, trials, run), Baseline(trials, run)},
		"a run":                    {Baseline(once, one), one},
		"variant 1, a run":         {Variant1(q, once, one), SubsetThenRest{SamplingProbability: q, Tune: one, Base: one}},
		"variant 2, a run":         {Variant2(q, once, one), both(sample(q, one), one)},
		"one fixed trial":          {Baseline(Fixed{1}, run), run},
		"fixed trials":             {Baseline(Fixed{k}, run), all},
		"variant 1, fixed trials":  {Variant1(q, Fixed{k}, run), SubsetThenRest{SamplingProbability: q, Tune: all, Base: run}},
		"variant 2, fixed trials":  {Variant2(q, Fixed{k}, run), both(sample(q, all), run)},
	} {
		for _, mode := range []Mode{Paper, Tight, Best} {
			got, want := mustEpsilon(t, c[0], 1e-5, Options{Mode: mode}), mustEpsilon(t, c[1], 1e-5, Options{Mode: mode})
			if !(math.Abs(got/want-1) <= 1e-8) {
				t.Errorf("%s, %s: epsilon %v, want %v", name, mode, got, want)
			}
		}
	}
	c, err := RDP(run, Options{})
	if err != nil || c.Slope(Orders{}) != c.Slope(Orders{Low: 2, High: 256}) {
		t.Errorf("the slope by zero orders is %v, %v", c.Slope(Orders{}), err)
	}
}
