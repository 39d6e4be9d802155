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

func TestFree(t *testing.T) {
	costly, nothing := Event(Gaussian{NoiseMultiplier: 1}), Event(Composed{})
	for _, e := range []Event{
		MaxOver{Events: []Event{nothing, costly}}, Parallel{Events: []Event{nothing, costly}},
		Composed{Events: []Event{nothing, costly}}, SelectBest{Event: costly, Repetitions: Poisson{Mean: 2}},
	} {
		if e.free() {
			t.Errorf("%#v is not free", e)
		}
	}
}

// Invalid values are found in every part of an event, and named by their path.
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

// Events that describe one mechanism in two ways have one bound in mode Best.
func TestEventsOfOneMechanism(t *testing.T) {
	run, other := DPSGD(0.1, 2, 6), DPSGD(0.2, 3, 4)
	step := run.(SelfComposed).Event
	for name, c := range map[string][2]Event{
		"runs of runs":      {SelfComposed{Event: SelfComposed{Event: step, Count: 2}, Count: 3}, run},
		"a rate of 0":       {SubsetThenRest{SamplingProbability: 0, Tune: other, Base: run}, run},
		"a rate of 1":       {SubsetThenRest{SamplingProbability: 1, Tune: run, Base: other}, run},
		"one candidate":     {MaxOver{Events: []Event{run}}, run},
		"a sample of one":   {PoissonSampled{SamplingProbability: 0.5, Event: PoissonSampled{SamplingProbability: 0.2, Event: Gaussian{NoiseMultiplier: 2}}}, step},
		"nothing beside it": {Composed{Events: []Event{Composed{}, run}}, run},
	} {
		a, err := Epsilon(c[0], 1e-5, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Epsilon(c[1], 1e-5, Options{})
		if err != nil || math.Abs(a.Epsilon/b.Epsilon-1) > 1e-3 { // grids may differ
			t.Errorf("%s: epsilon %v, want %v, %v", name, a.Epsilon, b.Epsilon, err)
		}
	}
	c, err := RDP(run, Options{})
	if err != nil || c.Slope(Orders{}) != c.Slope(Orders{Low: 2, High: 256}) {
		t.Errorf("the slope by zero orders is %v, %v", c.Slope(Orders{}), err)
	}
}
