package campaign

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// The time of the paper's experiments follows from the gradients that they are expected to compute, from its Section
// "Computational Savings" by hand: with n samples, gamma and T steps, E = gamma T epochs cost E (mu q n + (1-q) n),
// E (mu q n + n), E mu n and E n.
func TestGradients(t *testing.T) {
	for _, c := range []struct {
		cell Cell
		want map[Method]float64
	}{
		// 1,878 steps at 0.0213 of 60,000: 2,400,084 for one run on all samples.
		{Cell{Dataset: "mnist", Optimizer: "dp-sgd", Space: Rate}, map[Method]float64{Variant1: 5760201.6, Variant2: 6000210, Baseline: 36001260, Single: 2400084}},
		// 4,297 steps at 0.0256 of 25,000: 2,750,080.
		{Cell{Dataset: "imdb", Optimizer: "dp-adam", Space: Rate}, map[Method]float64{Variant1: 6600192, Variant2: 6875200, Baseline: 41251200, Single: 2750080}},
		// Rates 0.0128, 0.0256 of 50,000; 20, 30 and 40 epochs are 1,563, 2,344 and 3,125 steps at the first (1,562.5
		// and 2,343.75 unrounded), and 781, 1,172 and 1,563 at the other (781.25, 1,171.875, 1,562.5). One run has
		// (640 (1563+2344+3125) + 1280 (781+1172+1563))/6 = 1,500,160 gradients in the mean.
		{Cell{Dataset: "cifar-10", Optimizer: "dp-sgd", Space: All}, map[Method]float64{Variant1: 1500160 * 5.4, Variant2: 1500160 * 5.5, Baseline: 1500160 * 45, Single: 1500160}},
	} {
		for m, want := range c.want {
			c.cell.Method, c.cell.Accounting, c.cell.Epsilon = m, "paper", 1
			models := map[Method]float64{Variant1: 16, Variant2: 16, Baseline: 15, Single: 1}[m]
			seconds := map[string]float64{"mnist": 2*1878*models + want, "imdb": 3 * want, "cifar-10": want}[c.cell.Dataset]
			pace := Pace{"mnist dp-sgd": {Fixed: 2, Sample: 1}, "imdb dp-adam": {Fixed: 0, Sample: 3}, "cifar-10 dp-sgd": {Fixed: 0, Sample: 1}}
			w, err := newStore("nowhere", Description{}).Estimate(c.cell, pace)
			if err != nil || math.Abs(w.Seconds-seconds) > 1e-6*seconds || math.Abs(w.Gradients-want) > 1e-6*want {
				t.Errorf("%s: %+v, %v, want %v seconds and %v gradients", c.cell, w, err, seconds, want)
			}
			if c.cell.Space == All && m != Single {
				models += 30
			}
			if math.Abs(w.Models-models) > 1e-9 {
				t.Errorf("%s: %v models, want %v", c.cell, w.Models, models)
			}
		}
	}
}

// A single run takes exactly the steps, the rates and the noise of its baseline's model.
func TestSettingsOfSingleRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := drawJob(t)
		job.Method = Single
		b := Result{
			NoiseMultiplier: rapid.Float64Range(0.1, 50).Draw(t, "noise"), TunedLearningRate: rapid.Float64Range(1e-4, 40).Draw(t, "rate"),
			SamplingRate: rapid.Float64Range(1e-4, 1).Draw(t, "gamma"), ClippingNorm: rapid.Float64Range(0.1, 10).Draw(t, "C"), Steps: rapid.IntRange(1, 100_000).Draw(t, "T"),
		}
		b.LearningRate = 9 * b.TunedLearningRate // of a final run, which a baseline hasn't
		e, err := Scale{}.Experiment(job.Cell)
		if err != nil {
			t.Fatal(err)
		}
		s, err := job.settingsOf(e, &b)
		if err != nil {
			t.Fatal(err)
		}
		p := s.Experiment.Privacy
		steps, err := train.Steps(p.Epochs, p.SamplingRate)
		if err != nil || s.Tune || p.Epsilon != nil || *p.NoiseMultiplier != b.NoiseMultiplier || p.SamplingRate != b.SamplingRate || p.ClippingNorm != b.ClippingNorm ||
			s.Experiment.Training.LearningRate != b.TunedLearningRate || steps != b.Steps || p.Accounting != job.Accounting || s.Experiment.Training.Optimizer != job.Optimizer {
			t.Errorf("%d steps, %+v, %v of %+v", steps, s, err, b)
		}
	})
	c := Cell{"mnist", "dp-sgd", All, Single, "paper", 1}
	e, err := Scale{}.Experiment(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.settingsOf(e, nil); err == nil {
		t.Error("without a baseline: no error")
	}
	// A baseline without a trial released an untrained model, and its single run trains.
	s, err := c.settingsOf(e, &Result{NoiseMultiplier: 1, TunedLearningRate: 1, SamplingRate: 0.0213, ClippingNorm: 1})
	if err != nil || s.Experiment.Privacy.Epochs != 10 {
		t.Errorf("%+v, %v", s.Experiment.Privacy, err)
	}
}

// Tunings have the preset's settings but for method, accounting, epsilon and, if they are quick, size.
func TestSettingsOfTunings(t *testing.T) {
	c := Cell{"cifar-10", "dp-adam", All, Variant2, "tight", 2.5}
	e, err := Scale{Epochs: 0.5, Trials: 0.2}.Experiment(c)
	if err != nil {
		t.Fatal(err)
	}
	want, err := settings.Preset("cifar-10-adam-all")
	if err != nil {
		t.Fatal(err)
	}
	epsilon := 2.5
	want.Privacy.Variant, want.Privacy.Accounting, want.Privacy.Epsilon = "2", "tight", &epsilon
	want.Privacy.MeanRepetitions, want.Privacy.Epochs, want.Tuning.Epochs = 9, 20, []float64{10, 15, 20}
	if !same(e, want) {
		t.Errorf("got %+v\nwant %+v", e, want)
	}
	want.Performance.Workers = 3
	if !same(e, want) {
		t.Error("the number of cores makes another run")
	}
	for _, change := range []func(*settings.Experiment){
		func(e *settings.Experiment) { e.Privacy.SubsetRate = 0.2 },
		func(e *settings.Experiment) { e.Training.Optimizer = "dp-sgd" },
		func(e *settings.Experiment) { e.Tuning.LearningRates = e.Tuning.LearningRates[1:] },
		func(e *settings.Experiment) { e.Activation.Offset = 0 },
	} {
		other := want
		if change(&other); same(e, other) {
			t.Errorf("the same as %+v", other)
		}
	}
}

// The noise multipliers of the paper's bounds, which an independent implementation found with 60 digits (they are the
// smallest; ours are at most a little above).
func TestNoise(t *testing.T) {
	want := map[Cell]float64{}
	for optimizer, method := range map[string]string{"dp-sgd": "fashion-mnist", "dp-adam": "mnist"} {
		want[Cell{method, optimizer, Rate, Baseline, "paper", 1}] = 10.395216396240157
		want[Cell{method, optimizer, Rate, Variant1, "paper", 2}] = 2.7972947809216553
		want[Cell{method, optimizer, Rate, Variant2, "paper", 4}] = 2.140678311302389
	}
	want[Cell{"cifar-10", "dp-sgd", Rate, Variant1, "paper", 1}] = 4.616993766908755
	want[Cell{"imdb", "dp-sgd", Rate, Variant2, "paper", 2}] = 5.604557233928032
	cells := []Cell{{"mnist", "dp-sgd", All, Variant1, "paper", 1}, {"mnist", "dp-sgd", Rate, Single, "paper", 1}, {"mnist", "dp-sgd", Rate, Variant1, "paper", 1e-3}}
	for c := range want {
		cells = append(cells, c)
	}
	got, err := newStore("nowhere", Description{}).Noise(t.Context(), cells, func(int, int) {})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for c, noise := range want {
		if got[c] < noise*(1-1e-9) || got[c] > noise*(1+1e-6) {
			t.Errorf("%s: %v, want %v", c, got[c], noise)
		}
	}
}
