package experiment

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/tuner"
)

// Every preset plans at its data set's public size, with as many candidates as the paper's grid, and states its plan.
func TestEveryPresetPlans(t *testing.T) {
	type grid struct{ samples, rates, candidates int }
	papers := map[string]grid{
		"glyphs":        {12000, 6, 36},
		"mnist":         {60000, 9, 72},
		"fashion-mnist": {60000, 10, 80},
		"cifar-10":      {50000, 10, 60},
		"imdb":          {25000, 9, 54},
		"files":         {10000, 5, 30}, // of any size
	}
	for _, name := range settings.Presets() {
		e := experiment(t, "preset="+name, "privacy.accounting=paper") // the fastest
		paper, ok := papers[e.Dataset]
		if !ok {
			t.Fatalf("%s: the test knows nothing of %s", name, e.Dataset)
		}
		tuned, stated, err := planTuning(e, paper.samples)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := paper.rates
		if e.Tunes(settings.TuneEpochs) {
			want = paper.candidates
		}
		space := stated.Tuning.Space
		if space.Candidates != want || len(tuned.Space.(tuner.Grid)) != want {
			t.Errorf("%s: %d candidates, stated %d, want %d", name, len(tuned.Space.(tuner.Grid)), space.Candidates, want)
		}
		if missed := math.Exp(-e.Privacy.MeanRepetitions / float64(want)); math.Abs(space.Missed-missed) > 1e-12 {
			t.Errorf("%s: a candidate is missed with probability %v, want %v", name, space.Missed, missed)
		}
		if _, _, err := planTraining(e, paper.samples); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkSpace(t, e, tuned, stated)
	}
}

// checkSpace checks a statement against its settings.
func checkSpace(t interface{ Errorf(string, ...any) }, e settings.Experiment, s tuner.Settings, stated release.Privacy) {
	g, err := s.Guarantee(e.Privacy.Delta, Accounting(e.Privacy))
	if err != nil || g.Epsilon != stated.Epsilon || e.Privacy.Epsilon != nil && g.Epsilon > *e.Privacy.Epsilon {
		t.Errorf("%s: stated epsilon %v, the plan's is %v, %v", e.Preset, stated.Epsilon, g.Epsilon, err)
	}
	space := stated.Tuning.Space
	if grid, ok := s.Space.(tuner.Grid); ok {
		for _, c := range grid {
			if !slices.Contains(space.Runs, tuner.Run{SamplingRate: c.SamplingRate, Steps: c.Steps, NoiseMultiplier: c.NoiseMultiplier}) {
				t.Errorf("%s: no run is stated for %+v", e.Preset, c)
			}
		}
	}
	divided := ""
	if len(space.Runs) > 1 && e.Privacy.NoiseMultiplier == nil {
		divided = e.Tuning.Division
	}
	if space.Division != divided {
		t.Errorf("%s: division %q is stated, want %q", e.Preset, space.Division, divided)
	}
	for _, r := range space.Runs {
		if divided == settings.DivisionNoise && r.NoiseMultiplier != space.Runs[0].NoiseMultiplier {
			t.Errorf("%s: equal noise is that of %+v and of %+v", e.Preset, space.Runs[0], r)
		}
	}
	low, high := s.Space.LearningRates()
	if want := [2]float64{s.FinalLearningRate(low), s.FinalLearningRate(high)}; space.FinalLearningRates != want {
		t.Errorf("%s: final rates %v, want %v", e.Preset, space.FinalLearningRates, want)
	}
	for _, name := range []string{"learning rate", "sampling rate", "epochs", "clipping norm"} {
		if space.Tunes(name) != e.Tunes(settingOf[name]) {
			t.Errorf("%s: it is wrong about tuning the %s", e.Preset, name)
		}
	}
	if one := len(space.Runs) == 1; one != (stated.Steps > 0) || one != (stated.NoiseMultiplier > 0) {
		t.Errorf("%s: %d kinds of runs, but %d steps with noise %v", e.Preset, len(space.Runs), stated.Steps, stated.NoiseMultiplier)
	}
}

// Whatever is tuned, and however, the statement is the plan's, and the plan can be carried out.
func TestSpacesAreStated(t *testing.T) {
	long.Check(t, 40, func(t *rapid.T) {
		e, err := settings.Preset("glyphs")
		if err != nil {
			t.Fatal(err)
		}
		e.Privacy.Accounting = "paper"
		e.Privacy.Variant = rapid.SampledFrom([]string{"1", "2", "baseline"}).Draw(t, "variant")
		e.Training.Optimizer = rapid.SampledFrom([]string{"dp-sgd", "dp-adam"}).Draw(t, "optimizer")
		e.Tuning.ClippingNorms = []float64{1, 2}
		e.Tuning.Search = rapid.SampledFrom(settings.Searches()).Draw(t, "search")
		e.Tuning.Division = rapid.SampledFrom(append(settings.Divisions(), "")[1:]).Draw(t, "division")
		some := func(label string) []string {
			return slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.SampledFrom(settings.Tunable()), 1, 4).Draw(t, label))))
		}
		e.Tuning.Tune, e.Tuning.Ranges = some("tuned"), some("ranges")
		if rapid.Bool().Draw(t, "fixed noise") {
			e.Privacy.Fixed, e.Privacy.NoiseMultiplier = settings.FixedNoise, new(rapid.Float64Range(1.5, 3).Draw(t, "noise"))
		}
		if e.Validate() != nil { // nothing has a range, or epochs can't be tuned
			t.Skip()
		}
		tuned, stated, err := planTuning(e, 12000)
		if err != nil {
			t.Fatal(err)
		}
		checkSpace(t, e, tuned, stated)
		if _, err := (release.Release{Privacy: stated, Hyperparameters: release.Hyperparameters{TunedLearningRate: new(0.1)}}).Statement(); err != nil {
			t.Fatal(err)
		}
	})
}

// Noise that is given without epsilon is the noise of every candidate.
func TestGridOfGivenNoise(t *testing.T) {
	e := experiment(t, "tuning.tune=all", "privacy.noise_multiplier=2", "privacy.accounting=paper")
	settings, stated, err := planTuning(e, 12000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range settings.Space.(tuner.Grid) {
		if c.NoiseMultiplier != 2 {
			t.Errorf("%+v", c)
		}
	}
	checkSpace(t, e, settings, stated)
}
