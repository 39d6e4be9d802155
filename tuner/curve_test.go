package tuner

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// Only the final run has a released curve. It changes nothing else of the release, and its last point is the released
// score. Plans whose curve would be private are refused.
func TestFinalRunHasACurve(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 3)
		s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 40, NoiseMultiplier: 1, ClippingNorm: 1}, 0.01, 0.3)
		s.Samples = 1000
		plan, test := planWith(t, s, 3), labelled(t, 500, 2)
		e := Executor{Engine: cpu.New(cpu.Options{Workers: 2}), Model: linear(), Data: labelled(t, 1000, 1).Data, Test: test}
		want := mustRun(t, e, plan)
		e.Keeper = train.Keeper{Curve: test, Spacing: train.Spacing{Every: 15}}
		got, err := e.Run(background, plan)
		if m == Baseline {
			var wrong *train.SettingError
			if !errors.As(err, &wrong) || wrong.Setting != "learning curve" {
				t.Errorf("%v, want a refusal", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var steps []int
		for _, p := range got.Released.Curve {
			steps = append(steps, p.Step)
		}
		if !slices.Equal(steps, []int{0, 15, 30, 40}) || got.Released.Curve[3].Score != got.Released.TestScore {
			t.Errorf("curve %v, score %v", got.Released.Curve, got.Released.TestScore)
		}
		got.Released.Curve = nil
		if !reflect.DeepEqual(got.Released, want.Released) {
			t.Error("the curve changes what is released")
		}
	})
}

func TestHeldOutSamplesHaveNoCurve(t *testing.T) {
	s := settings(Variant1, 2)
	s.HoldOut = train.HeldOutSettings{Rate: 0.2, NoiseMultiplier: 4}
	data := labelled(t, s.Samples, 1)
	e := Executor{Engine: cpu.New(cpu.Options{Workers: 1}), Model: linear(), Data: data.Data, Test: data}
	e.Keeper = train.Keeper{Curve: labelled(t, 50, 2), Spacing: train.Spacing{Points: 3}}
	var wrong *train.SettingError
	if _, err := e.Run(background, planWith(t, s, 2)); !errors.As(err, &wrong) || wrong.Setting != "learning curve" {
		t.Errorf("%v, want a refusal", err)
	}
}
