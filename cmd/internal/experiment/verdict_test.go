package experiment

import (
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// A score of three in four is the largest class's own: only more than that was learnt.
func TestVerdict(t *testing.T) {
	test, err := train.NewClassification([]float32{1, 2, 3, 4}, []int32{1, 0, 1, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := train.NewRegression([]float32{1, 2}, []float32{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		test  train.Labelled
		score float64
		want  string // what the warning begins with
	}{
		{test, 0.74, "the model is no better than one answer for every row: the largest class has"},
		{test, 0.75, "the model is no better than one answer for every row: the largest class has"},
		{test, 0.76, ""},
		{numbers, 0, "the model is no better than one answer for every row: the mean of the labels has"},
		{numbers, 0.01, ""},
	} {
		p := Plan{data: &loaded{test: c.test}}
		got := p.judge(trained{score: c.score}).Warning
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%v: %q", c.score, got)
		}
	}
}

// The release of a model that learnt nothing has the verdict, and another model's hasn't.
func TestVerdictIsReleased(t *testing.T) {
	// Private rows are like the latter.
	for rows, warned := range map[string]bool{"-2,yes\n2,no\n": true, "-2,no\n2,yes\n": false} {
		settings := own(t)
		if err := os.WriteFile(strings.TrimPrefix(settings[1], "data.test="), []byte("x,y\n"+strings.Repeat(rows, 30)), 0o600); err != nil {
			t.Fatal(err)
		}
		p := resolve(t, false, settings...)
		o, _ := carryOut(t, p)
		if got := o.Release.Model.Warning; got != o.Verdict.Warning || (got != "") != warned {
			t.Errorf("%q: accuracy %v, released %q, verdict %q", rows, o.Release.Score.Value, got, o.Verdict.Warning)
		}
	}
}

// The remedy is the one that helps most.
func TestRemedy(t *testing.T) {
	var p Plan
	want := func(text string) {
		t.Helper()
		if got := p.remedy(); !strings.Contains(got, text) {
			t.Errorf("%q, want %q in it", got, text)
		}
	}
	want("another --learning-rate, or \"dptrain tune\"")
	p.privacy.Tuning = &release.Tuning{}
	want("a larger epsilon")
	p.Experiment.Training.Optimizer = "dp-adam"
	want("a larger epsilon")
	p.Experiment.Training.Optimizer = "dp-sgd"
	want("--optimizer dp-adam")
	p.work = tuning{tuner.Settings{Method: tuner.Variant1, SubsetRate: 0.1, Samples: 900, Space: tuner.Grid{{LearningRate: 1}}}}
	p.Experiment.Training.Optimizer = "dp-adam"
	want("\"dptrain train\" with the preset's learning rate")
	p.tune, p.Experiment.Privacy.Holdout = true, 0.1
	want("a larger --q") // "dptrain train" holds out nothing
	p.Samples.stable = 0.5
	want("learning rates of at most 0.5 in the final run")
	p.Samples.large = []string{"age"}
	want("scaling the columns")
}
