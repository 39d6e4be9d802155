package tuner

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
)

// listed has lists of all but the learning rate.
func listed() Region {
	return Region{
		LearningRate: Between(1e-4, 1), SamplingRate: Values{List: []float64{0.1, 0.2}},
		Epochs: Values{List: []float64{1, 2, 4}}, ClippingNorm: Values{List: []float64{1, 3}},
	}
}

// Each kind of run of a region of lists is drawn. With six kinds and 15 trials for each of 40 seeds, which are fixed,
// another choice of seeds would miss one with a probability below 6 e^{-15·40/6} < 1e-42.
func TestEveryListedRunIsDrawn(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	s := searching(t, Variant1, listed())
	runs := s.Space.(Region).Runs
	want := [][2]float64{{0.1, 10}, {0.1, 20}, {0.1, 40}, {0.2, 5}, {0.2, 10}, {0.2, 20}}
	for i, r := range runs {
		if len(runs) != len(want) || r.SamplingRate != want[i][0] || float64(r.Steps) != want[i][1] {
			t.Fatalf("the runs are %+v", runs)
		}
	}
	drawn := map[Run]bool{}
	for seed := range uint64(40) {
		for _, trial := range mustPlan(t, s, seed).Private.Trials {
			drawn[trial.Candidate.run()] = true
		}
	}
	for _, r := range runs {
		if !drawn[r] {
			t.Errorf("%+v is never drawn", r)
		}
	}
	if len(drawn) != len(runs) {
		t.Errorf("%d kinds of run are drawn, of %d", len(drawn), len(runs))
	}
}

// A list of sampling rates doesn't turn a range of epochs into a list: candidates are fitted below a line, each with
// its drawn epochs.
func TestListedRatesAndAnyEpochs(t *testing.T) {
	r := listed()
	r.Epochs = Between(2, 9)
	s := searching(t, Variant2, r)
	got := s.Space.(Region)
	if len(got.Runs) > 0 || got.Line.Slope == 0 {
		t.Fatalf("settled %+v", got)
	}
	steps := map[int]bool{}
	for _, trial := range mustPlan(t, s, 3).Private.Trials {
		c := trial.Candidate
		if epochs := float64(c.Steps) * c.SamplingRate; epochs < 2-c.SamplingRate || epochs > 9+c.SamplingRate || orderAbove(t, c.run(), got.Line) != 0 {
			t.Errorf("%+v has %v epochs", c, epochs)
		}
		steps[c.Steps] = true
	}
	if len(steps) < 4 {
		t.Errorf("all trials have %v steps", steps)
	}
}

// A region that is changed has no effect on a plan drawn from it.
func TestPlanOwnsItsRegion(t *testing.T) {
	s := searching(t, Variant1, listed())
	plan := mustPlan(t, s, 4)
	event, trials := plan.Settings.Event(), slices.Clone(plan.Private.Trials)
	r := s.Space.(Region)
	r.Runs[0].NoiseMultiplier, r.SamplingRate.List[0], r.Epochs.List[0], r.ClippingNorm.List[0] = 1e-3, 0.9, 100, 77
	if !reflect.DeepEqual(plan.Settings.Event(), event) {
		t.Errorf("charged for %+v, drawn for %+v", plan.Settings.Event(), event)
	}
	again, err := plan.redraw()
	if err != nil || !slices.Equal(again.Private.Trials, trials) {
		t.Errorf("the plan draws %+v now, %v", again.Private.Trials, err)
	}
}

// A limit removes a list's rates above it, and doesn't change the caller's list.
func TestWithinFinalRateOfAList(t *testing.T) {
	s := settings(Variant1, 5) // the final run's rates are four times as large
	r := listed()
	rates := []float64{0.4, 0.01, 0.2, 0.1}
	r.LearningRate = Values{List: rates}
	s.Space = r
	within, err := s.WithinFinalRate(0.41)
	if err != nil || !slices.Equal(within.Space.(Region).LearningRate.List, []float64{0.01, 0.1}) {
		t.Errorf("%+v, %v", within.Space, err)
	}
	if !slices.Equal(rates, []float64{0.4, 0.01, 0.2, 0.1}) {
		t.Errorf("the caller's list became %v", rates)
	}
	if low, high := s.Space.LearningRates(); low != 0.01 || high != 0.4 {
		t.Errorf("from %v to %v", low, high)
	}
}

// Rates of a list are at most 1, at any position.
func TestListedRatesAreRates(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	valid := searching(t, Variant1, listed())
	for _, bad := range []float64{1.01, 0, -0.1, math.NaN(), math.Inf(1)} {
		for at := range 2 {
			s, r := valid, valid.Space.(Region)
			r.SamplingRate.List = slices.Clone(r.SamplingRate.List)
			r.SamplingRate.List[at] = bad
			s.Space = r
			if err := s.Validate(); err == nil {
				t.Errorf("sampling rate %v is valid", bad)
			}
			if _, err := NewPlan(s, train.InsecureKey(1)); err == nil {
				t.Errorf("there is a plan of sampling rate %v", bad)
			}
		}
	}
}
