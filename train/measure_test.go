package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
)

// recall is the share of the samples of class 2 that are predicted as class 2, written for the test from the
// definition.
func recall(outputs []float32, labels Labels) float64 {
	of, found := 0.0, 0.0
	for i, label := range labels.Class {
		if row := outputs[3*i:]; label == 2 {
			of++
			if row[2] > row[0] && row[2] > row[1] {
				found++
			}
		}
	}
	return found / of
}

// A group scores by the caller's own measure, under its name. The measure's changes of its arguments have no effect.
func TestScoredByAMeasure(t *testing.T) {
	loaded, err := Load(cpu.New(cpu.Options{Workers: 2}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	group := must(loaded.Start(cpuSettings(SGD(0.5))))
	defer group.Close()
	public := threeClouds(t, 30)
	outputs := must(group.Predict(context.Background(), public.Data, 0))[0]
	for name, score := range map[string]func([]float32, Labels) float64{
		"recall of class 2": recall,
		"all": func(outputs []float32, l Labels) float64 {
			if len(outputs) != 90 || l.Classes != 3 || len(l.Class) != 30 || l.Number != nil || l.Class[2] != 2 {
				t.Errorf("measures %d outputs with labels %+v", len(outputs), l)
			}
			for i := range l.Class {
				l.Class[i], outputs[i] = 0, 0
			}
			return 7e10
		},
	} {
		set, err := ScoredBy(public, MeasureFunc(name, score))
		if err != nil {
			t.Fatal(err)
		}
		if set.Metric() != Metric(name) || set.Samples() != 30 || set.Inputs() != public.Data {
			t.Errorf("%s: %s of %d samples", name, set.Metric(), set.Samples())
		}
		want := 7e10
		if name != "all" {
			want = recall(outputs, Labels{Class: public.labels})
		}
		for range 2 {
			if got := must(group.Score(context.Background(), set, 0)); got[0] != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if fingerprint := must(loaded.Fingerprint(must(ScoredBy(public, MeasureFunc("mine", recall))))); fingerprint["metric"] != "mine" {
		t.Errorf("the fingerprint has metric %q", fingerprint["metric"])
	}
}

// NaN and infinities become finite scores. The score of NaN loses against all others.
func TestMeasuresAreFinite(t *testing.T) {
	numbers := must(NewRegression([]float32{1, 2}, []float32{5, 5})) // R² has no score for equal labels
	for given, want := range map[float64]float64{math.Inf(-1): -math.MaxFloat64, 3: 3, math.Inf(1): math.MaxFloat64} {
		set := must(ScoredBy(numbers, MeasureFunc("mine", func([]float32, Labels) float64 { return given })))
		if got, err := set.measure(nil); err != nil || got != want {
			t.Errorf("%v becomes %v, %v", given, got, err)
		}
	}
	set := must(ScoredBy(numbers, MeasureFunc("mine", func([]float32, Labels) float64 { return math.NaN() })))
	if got, err := set.measure(nil); err != nil || got != -math.MaxFloat64 {
		t.Errorf("NaN becomes %v, %v", got, err)
	}
}

// The constant output is the mean of numbers, and the logarithms of the classes' shares with one sample more each.
func TestConstantOfAMeasure(t *testing.T) {
	numbers := must(NewRegression([]float32{1, 2, 3}, []float32{1, 2, 6}))
	square := MeasureFunc("minus squared error", func(outputs []float32, l Labels) (sum float64) {
		for i, y := range l.Number {
			sum -= float64(outputs[i]-y) * float64(outputs[i]-y)
		}
		return sum
	})
	if got := must(ScoredBy(numbers, square)).Constant(); got != -(4 + 1 + 9) {
		t.Errorf("constant of squared errors is %v, want -14", got)
	}
	likelihood := MeasureFunc("log likelihood", func(outputs []float32, l Labels) (sum float64) {
		for i, label := range l.Class {
			sum += float64(outputs[l.Classes*i+int(label)])
		}
		return sum
	})
	// Shares of 3/6, 2/6 and 1/6.
	if got, want := must(ScoredBy(classesOf(t, 0, 0, 1), likelihood)).Constant(), 2*math.Log(0.5)+math.Log(1./3); math.Abs(got-want) > 1e-6 {
		t.Errorf("constant of likelihoods is %v, want %v", got, want)
	}
	if got := must(ScoredBy(must(NewClassification(nil, nil, 2)), likelihood)).Constant(); got != -math.MaxFloat64 {
		t.Errorf("constant of no samples is %v", got)
	}
}

type nameless struct{ Measure }

func (nameless) Name() string { panic("no name") }

func TestScoredByRefuses(t *testing.T) {
	public, fine := threeClouds(t, 30), MeasureFunc("mine", recall)
	other := threeClouds(t, 30)
	other.Data = threeClouds(t, 15).Data
	for name, c := range map[string]struct {
		set  Labelled
		by   Measure
		want string
	}{
		"no set":          {nil, fine, "want a *train.Classification or *train.Regression"},
		"nil set":         {(*Classification)(nil), fine, "none; make one by"},
		"zero set":        {&Regression{}, fine, "none; make one by"},
		"embedded":        {embedsNone{public}, fine, "want a *train.Classification or *train.Regression"},
		"twice":           {must(ScoredBy(public, fine)), fine, "has a measure already"},
		"held out":        {holdOut(t, public, 1), fine, "how much one sample changes"},
		"other samples":   {other, fine, "30 labels for 15 samples"},
		"no measure":      {public, nil, "measure is missing"},
		"no function":     {public, MeasureFunc("mine", nil), "measure is missing"},
		"no name":         {public, MeasureFunc("", recall), "name of the measure"},
		"two lines":       {public, MeasureFunc("a\nb", recall), "name of the measure"},
		"a built-in name": {public, MeasureFunc("accuracy", recall), "a name of its own"},
		"another":         {public, MeasureFunc("R²", recall), "a name of its own"},
		"panics":          {public, nameless{fine}, "its name panicked: no name"},
	} {
		_, err := ScoredBy(c.set, c.by)
		var data *DataError
		var setting *SettingError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &data) && !errors.As(err, &setting) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := NewHeldOut(must(ScoredBy(public, fine)), []int32{1}, HeldOutSettings{Rate: 0.1, NoiseMultiplier: 1}); err == nil || !strings.Contains(err.Error(), "how much one sample changes a measure of your own isn't known") {
		t.Errorf("samples with a measure are held out: %v", err)
	}
	loaded := must(Load(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), public.Data))
	defer loaded.Close()
	for _, set := range []Labelled{(*Measured)(nil), &Measured{}} {
		var data *DataError
		if err := loaded.CheckTest(set); !errors.As(err, &data) {
			t.Errorf("a test set of %#v: %v", set, err)
		}
	}
}

// A measure that panics on one model fails that run alone.
func TestMeasureThatPanics(t *testing.T) {
	loaded := must(Load(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data))
	defer loaded.Close()
	calls := 0
	set := must(ScoredBy(threeClouds(t, 30), MeasureFunc("mine", func(outputs []float32, l Labels) float64 {
		if calls++; calls == 2 {
			panic("on the second model")
		}
		return float64(calls)
	})))
	var runs []Run
	for i := range 3 {
		s := cpuSettings(SGD(0.5))
		s.Trial, s.Privacy.Steps = uint32(i), 3
		runs = append(runs, Run{Settings: s})
	}
	out, err := loaded.TrainAll(context.Background(), set, runs...)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Err != nil || out[0].Score != 1 || out[2].Err != nil || out[2].Score != 3 {
		t.Errorf("the other runs: %+v, %+v", out[0], out[2])
	}
	if err := out[1].Err; err == nil || !strings.Contains(err.Error(), "measure mine") || !strings.Contains(err.Error(), "on the second model") {
		t.Errorf("the run whose measure panicked: %v", err)
	}
}
