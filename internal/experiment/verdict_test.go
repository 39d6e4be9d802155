package experiment

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
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
	p.privacy.Tuning = &report.Tuning{}
	want("a larger epsilon")
	p.Experiment.Training.Optimizer = "dp-adam"
	want("a larger epsilon")
	p.Experiment.Training.Optimizer = "dp-sgd"
	want("--optimizer dp-adam")
	p.Samples.large = []string{"age"}
	want("scaling the columns")
}
