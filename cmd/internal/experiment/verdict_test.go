package experiment

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/settings"
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

// A model of a rare class that never predicts it is told from one that learnt nothing: by hand, of 996 rows and 4.
func TestVerdictOfARareClass(t *testing.T) {
	labels := make([]int32, 1000)
	labels[0], labels[1], labels[2], labels[3] = 1, 1, 1, 1
	test, err := train.NewClassification(make([]float32, 1000), labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	shares := -.996*math.Log(.996) - .004*math.Log(.004)
	for _, c := range []struct {
		measured scores.Classification
		metric   string
		want     string
	}{
		{scores.Classification{AUC: .85, LogLoss: .02}, "", "no row's probability of yes reaches one half; but the model ranks rows (AUC 0.85; log loss 0.0200, and class frequencies have 0.0261): use its probabilities, or a threshold, such as --threshold yes=0.004 of"},
		{scores.Classification{AUC: .85, LogLoss: .02, Counts: []train.ClassCounts{{}, {Predicted: 2}}}, "", "2 of 1,000 rows reach one half for yes, and"},
		{scores.Classification{AUC: .55, LogLoss: .02}, "", "the model is no better than one answer"}, // chance
		{scores.Classification{AUC: .85, LogLoss: .03}, "", "the model is no better than one answer"},
		{scores.Classification{AUC: .85, LogLoss: .03}, settings.MetricAUC, ""},
		{scores.Classification{AUC: .85, LogLoss: .02}, settings.MetricAUC, "no row's probability of yes reaches one half; but"},
		{scores.Classification{AUC: .85, LogLoss: .02, Counts: []train.ClassCounts{{}, {Predicted: 2}}}, settings.MetricAUC, ""},
	} {
		p := Plan{data: &loaded{test: test, model: release.Model{Classes: []string{"no", "yes"}}}, Samples: Samples{Test: 1000}, tune: true}
		p.Experiment.Tuning.Metric = c.metric
		m, predicted := c.measured, 0
		if m.Counts != nil {
			predicted = m.Counts[1].Predicted
		}
		m.SharesLogLoss, m.Rarer, m.Counts = shares, 1, []train.ClassCounts{{Samples: 996}, {Samples: 4, Predicted: predicted}}
		score := .996
		if c.metric != "" {
			score = .85
		}
		got := p.judge(trained{score: score, measured: &m}).Warning
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// By each metric a model has the score of its probabilities at the fitted temperature, and one answer has that of two
// classes of equal frequency.
func TestMetrics(t *testing.T) {
	test, err := train.NewClassification([]float32{1, 2, 3, 4}, []int32{0, 1, 1, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	logits := []float32{0, -1, 0, 2, 0, -0.5, 0, -3} // both rows of the second class, 2 and -0.5, beat -1 and -3
	for metric, want := range map[string]train.Metric{settings.MetricLogLoss: train.NegativeLogLoss, settings.MetricAUC: release.AUC} {
		p := Plan{data: &loaded{test: test}, tune: true}
		p.Experiment.Tuning.Metric = metric
		set := p.scored()
		temperature, _, err := scores.Temperature(logits, test.Labels(), 2)
		if err != nil {
			t.Fatal(err)
		}
		score, constant := 1., .5
		if metric == settings.MetricLogLoss {
			score, constant = 0, -math.Ln2
			for i, sign := range []float64{-1, 1, 1, -1} {
				score -= math.Log1p(math.Exp(-sign*float64(logits[2*i+1])/temperature)) / 4
			}
		}
		got := set.(*train.Measured)
		if a := p.measure(logits, train.Labels{Classes: 2, Class: test.Labels()}); math.Abs(a-score) > 1e-6 || math.Abs(got.Constant()-constant) > 1e-6 || got.Metric() != want || p.metric() != want {
			t.Errorf("%s: %v and constant %v of %s, want %v and %v", metric, a, got.Constant(), got.Metric(), score, constant)
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
	want("--model linear without settings of a search")
	p.choice.ruled = true
	want("more rows, fewer columns")
	p.Samples.stable = 0.5
	want("learning rates of at most 0.5 in the final run")
	p.Samples.large = []string{"age"}
	want("scaling the columns")
}
