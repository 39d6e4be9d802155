package tuner

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

func heldOutSettings(m Method, mean float64) Settings {
	s := settings(m, mean)
	s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 40, NoiseMultiplier: 1, ClippingNorm: 1}, 0.01, 0.3, 3)
	s.Samples = 1000
	s.HoldOut = train.HeldOutSettings{Rate: 0.2, NoiseMultiplier: 4}
	return s
}

// Held-out samples are in no run, and every other sample is in the runs of the method.
func TestHeldOutSamplesAreInNoRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(t, "method")
		s := heldOutSettings(m, 3)
		s.Samples = rapid.IntRange(1, 300).Draw(t, "samples")
		s.HoldOut.Rate = rapid.Float64Range(0.001, 0.999).Draw(t, "rate")
		plan, err := NewPlan(s, train.Key{rapid.Byte().Draw(t, "key"), 1})
		if err != nil {
			t.Fatal(err)
		}
		where := make([]int, s.Samples) // 1: held out, 2: in trials, 4: in the final run
		for bit, members := range map[int][]int32{1: plan.Private.HeldOut, 2: plan.Private.Subset, 4: plan.Private.Rest} {
			if members == nil || !slices.IsSorted(members) {
				t.Fatalf("members %v", members)
			}
			for _, i := range members {
				where[i] |= bit
			}
		}
		for i, at := range where {
			if ok := map[Method][]int{Baseline: {1, 6}, Variant1: {1, 2, 4}, Variant2: {1, 4, 6}}[m]; !slices.Contains(ok, at) {
				t.Fatalf("%s: sample %d is in %b", m, i, at)
			}
		}
		if got := plan.final(plan.First); !slices.Equal(got.Members, plan.Private.Rest) || got.Members == nil {
			t.Fatal("the final run has other members")
		}
	})
}

// The number of held-out samples is binomial, and the subset is drawn from the others. Falsely rejects with probability
// below 1e-8: each count is within six standard deviations of its mean.
func TestHeldOutShares(t *testing.T) {
	s := heldOutSettings(Variant1, 3)
	s.Samples, s.SubsetRate = 200000, 0.1
	plan, err := NewPlan(s, train.Key{7})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  int
		rate float64
	}{"held out": {len(plan.Private.HeldOut), 0.2}, "subset": {len(plan.Private.Subset), 0.08}, "rest": {len(plan.Private.Rest), 0.72}} {
		n := float64(s.Samples)
		if off := math.Abs(float64(c.got)-c.rate*n) / math.Sqrt(n*c.rate*(1-c.rate)); off > 6 {
			t.Errorf("%s: %d samples, want about %v", name, c.got, c.rate*n)
		}
	}
	for name, c := range map[string][2]float64{
		"trial": {plan.Settings.trialSize(), 0.08 * 200000}, "final": {plan.Settings.finalSize(), 0.72 * 200000},
	} {
		if math.Abs(c[0]-c[1]) > 1e-6 {
			t.Errorf("%s: nominal size %v, want %v", name, c[0], c[1])
		}
	}
}

// The event has the runs on one side and the scores on the other, for any method.
func TestHeldOutEvent(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		s := heldOutSettings(m, 3)
		plain := s
		plain.HoldOut = train.HeldOutSettings{}
		score := accountant.Gaussian{NoiseMultiplier: 4}
		want := accountant.Parallel{Events: []accountant.Event{plain.Event(), accountant.Composed{Events: []accountant.Event{
			accountant.SelectBest{Event: score, Repetitions: s.Repetitions}, score,
		}}}}
		if got := s.Event(); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v\nwant %#v", got, want)
		}
	})
}

// A calibration gives the whole budget to the runs, and also to the scores.
func TestCalibrateHeldOut(t *testing.T) {
	const epsilon, delta = 2, 1e-5
	s := heldOutSettings(Variant1, 4)
	s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 40, ClippingNorm: 1}, 0.1)
	s.HoldOut.NoiseMultiplier = 0
	got, g, err := Calibrate(s, epsilon, delta, accountant.Options{Mode: accountant.Tight})
	if err != nil || g.Epsilon > epsilon || g.Epsilon < epsilon*(1-1e-5) {
		t.Fatalf("epsilon %v, %v", g.Epsilon, err)
	}
	plain := s
	plain.HoldOut = train.HeldOutSettings{}
	alone, _, err := Calibrate(plain, epsilon, delta, accountant.Options{Mode: accountant.Tight})
	if err != nil || !reflect.DeepEqual(alone.Space, got.Space) {
		t.Errorf("space %v, without held-out samples %v, %v", got.Space, alone.Space, err)
	}
	h, err := accountant.Epsilon(got.HoldOutEvent(), delta, accountant.Options{Mode: accountant.Tight})
	if err != nil || h.Epsilon > epsilon || h.Epsilon < epsilon*(1-1e-5) {
		t.Errorf("scores cost %v, %v", h.Epsilon, err)
	}
	given := got
	given.HoldOut.NoiseMultiplier = 0
	again, g, err := CalibrateHoldOut(given, delta, accountant.Options{Mode: accountant.Tight})
	if err != nil || math.Abs(again.HoldOut.NoiseMultiplier/got.HoldOut.NoiseMultiplier-1) > 1e-4 || g.Epsilon > epsilon*(1+1e-9) {
		t.Errorf("noise %v for epsilon %v, want %v, %v", again.HoldOut.NoiseMultiplier, g.Epsilon, got.HoldOut.NoiseMultiplier, err)
	}
	steps, g, err := CalibrateSteps(got, epsilon, delta, accountant.Options{Mode: accountant.Tight})
	if err != nil || steps.Space.(Grid)[0].Steps != 40 || steps.HoldOut != got.HoldOut {
		t.Errorf("%v steps and %+v, want 40 and %+v, %v", steps.Space.(Grid)[0].Steps, steps.HoldOut, got.HoldOut, err)
	}
}

// The best rate is found without public samples, and the released score is near the score on other samples of the same
// law. With too much noise the trials would choose at random.
func TestTuneOnHeldOutSamples(t *testing.T) {
	data, public := labelled(t, 1000, 1), labelled(t, 500, 2)
	methods(t, func(t *testing.T, m Method) {
		executor := Executor{Engine: cpu.New(cpu.Options{Workers: 2}), Model: linear(), Data: data.Data, Test: data}
		plan := planWith(t, heldOutSettings(m, 6), 5)
		result := mustRun(t, executor, plan)
		h := result.Released.HeldOut
		if h == nil || result.Released.TestScore != h.Score || h.Interval[0] > h.Score || h.Interval[1] < h.Score {
			t.Fatalf("released %+v", result.Released)
		}
		predictor, err := train.NewPredictor(executor.Engine, executor.Model, values(result.Released.Parameters))
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := predictor.Predict(context.Background(), public.Data)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, label := range public.Labels() {
			if train.Predicted(outputs[i*public.Classes():(i+1)*public.Classes()]) == int(label) {
				right++
			}
		}
		if accuracy := float64(right) / 500; accuracy < 0.9 || math.Abs(accuracy-h.Score) > 0.12 {
			t.Errorf("accuracy %v on public samples, released %v", accuracy, h.Score)
		}
		// Another run, with another number of workers and beside another plan, gives the same.
		executor.Engine = cpu.New(cpu.Options{Workers: 1})
		other := planWith(t, heldOutSettings(m, 6), 6)
		both, err := executor.RunAll(context.Background(), Work{Plan: other}, Work{Plan: plan})
		if err != nil || !reflect.DeepEqual(timeless(both[1]), timeless(result)) {
			t.Errorf("beside another plan: %v, %+v\nwant %+v", err, both, result)
		}
	})
}

// Plans are refused if their scores would be on another set than they say.
func TestHeldOutTestSets(t *testing.T) {
	data, public := labelled(t, 1000, 1), labelled(t, 500, 2)
	var wrong *train.SettingError
	e := Executor{Engine: cpu.New(cpu.Options{}), Model: linear(), Data: data.Data, Test: public}
	if _, err := e.Run(context.Background(), planWith(t, heldOutSettings(Variant1, 2), 5)); !errors.As(err, &wrong) {
		t.Errorf("public samples in place of the data: %v", err)
	}
	e.Test = nil
	if _, err := e.Run(context.Background(), planWith(t, heldOutSettings(Variant1, 2), 5)); !errors.As(err, &wrong) {
		t.Errorf("no labels: %v", err)
	}
	e.Test = data
	plan := planWith(t, heldOutSettings(Variant1, 2), 5)
	plan.Private.HeldOut = plan.Private.HeldOut[1:]
	if _, err := e.Run(context.Background(), plan); !errors.As(err, &wrong) {
		t.Errorf("one sample less: %v", err)
	}
	s := heldOutSettings(Variant1, 2)
	s.HoldOut.NoiseMultiplier = 0
	if err := s.Validate(); !errors.As(err, &wrong) {
		t.Errorf("scores without noise: %v", err)
	}
}
