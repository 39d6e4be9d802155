package tuner

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/train"
)

// The caller's own measure selects: its negative selects another trial, and scores are its values. A NaN loses.
func TestAMeasureSelects(t *testing.T) {
	s := settings(Variant1, 6)
	s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 12, NoiseMultiplier: 1, ClippingNorm: 1}, 0.01, 0.1, 0.5, 3)
	plan := planWith(t, s, 6)
	size := func(outputs []float32, _ train.Labels) (sum float64) {
		for _, v := range outputs {
			sum += math.Abs(float64(v))
		}
		return sum
	}
	run := func(score func([]float32, train.Labels) float64) Result {
		e := kept(t, nil, s.Samples)
		set, err := train.ScoredBy(e.Test, train.MeasureFunc("mine", score))
		if err != nil {
			t.Fatal(err)
		}
		e.Test = set
		return mustRun(t, e, plan)
	}
	largest, smallest := run(size), run(func(o []float32, l train.Labels) float64 { return -size(o, l) })
	if largest.Private.Best == smallest.Private.Best || largest.Private.Trials[0].Score != -smallest.Private.Trials[0].Score || largest.Released.TestScore <= 1 {
		t.Errorf("by the size of outputs trial %d wins, by its negative %d, with scores %v", largest.Private.Best, smallest.Private.Best, largest.Private.Trials)
	}
	best := largest.Private.Trials[largest.Private.Best].Score
	undefined := run(func(o []float32, l train.Labels) float64 {
		if v := size(o, l); v != best {
			return v
		}
		return math.NaN()
	})
	if undefined.Private.Best == largest.Private.Best {
		t.Error("a NaN wins")
	}
}

// Samples with any columns select too: accuracy, written by their columns, selects and releases what the built-in
// metric does.
func TestSamplesOfAnyColumnsSelect(t *testing.T) {
	s := settings(Variant1, 6)
	s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 12, NoiseMultiplier: 1, ClippingNorm: 1}, 0.01, 0.1, 0.5, 3)
	plan := planWith(t, s, 6)
	e := kept(t, nil, s.Samples)
	want := mustRun(t, e, plan)
	set, err := train.NewScored(e.Test.Inputs(), train.MeasureFunc("mine", func(outputs []float32, l train.Labels) float64 {
		right := 0
		for i := range l.Samples {
			right += int(l.Columns[1].Floats[2*i+train.Predicted(outputs[2*i:2*i+2])])
		}
		return float64(right) / float64(l.Samples)
	}))
	if err != nil {
		t.Fatal(err)
	}
	e.Test = set
	if got := mustRun(t, e, plan); !reflect.DeepEqual(timeless(got), timeless(want)) {
		t.Errorf("by its columns: %+v\nby accuracy: %+v", got, want)
	}
}

// A group of a parameter that the model lacks is an error before anything is trained.
func TestGroupsAreCheckedFirst(t *testing.T) {
	s := settings(Variant1, 2)
	s.Optimizer.Groups = []train.ParameterGroup{{Parameters: []string{"bias"}, LearningRate: 1}}
	lab := &fakeLab{}
	_, err := lab.executor(t).Run(t.Context(), planWith(t, s, 2))
	var wrong *train.SettingError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `"bias": want one of the model's: ["w"]`) || lab.stepped > 0 || lab.open > 0 {
		t.Errorf("error %v after %d steps, %d left open", err, lab.stepped, lab.open)
	}
}

// A plan that holds out samples refuses a measure whose sensitivity isn't known, before anything is trained.
func TestHeldOutRefusesAMeasure(t *testing.T) {
	s := settings(Variant1, 2)
	s.HoldOut = train.HeldOutSettings{Rate: 0.2, NoiseMultiplier: 2}
	all := labelled(t, s.Samples, 1)
	set, err := train.ScoredBy(all, train.MeasureFunc("mine", func([]float32, train.Labels) float64 { return 1 }))
	if err != nil {
		t.Fatal(err)
	}
	e := kept(t, nil, s.Samples)
	e.Data, e.Test = all.Data, set
	if _, err := e.Run(t.Context(), mustPlan(t, s, 1)); err == nil || !strings.Contains(err.Error(), "how much one sample changes a measure of your own isn't known") {
		t.Errorf("error %v", err)
	}
}
