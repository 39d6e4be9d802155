package settings

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestTunes(t *testing.T) {
	for _, c := range []struct {
		tune  []string
		fixed string
		want  []string
	}{
		{[]string{"rate"}, FixedEpochs, []string{"rate"}},
		{[]string{"all"}, FixedEpochs, []string{"rate", "batch", "epochs"}},
		{[]string{"all", "clip"}, FixedEpochs, []string{"rate", "batch", "epochs", "clip"}},
		{[]string{"all"}, FixedNoise, []string{"rate", "batch"}},
		{[]string{"clip", "epochs"}, FixedEpochs, []string{"epochs", "clip"}},
	} {
		e := Experiment{Privacy: Privacy{Fixed: c.fixed}, Tuning: Tuning{Tune: c.tune, Search: SearchRandom, Ranges: Tunable()}}
		var got, ranged []string
		for _, name := range Tunable() {
			if e.Tunes(name) {
				got = append(got, name)
			}
			if e.Ranged(name) {
				ranged = append(ranged, name)
			}
		}
		if !slices.Equal(got, c.want) || !slices.Equal(ranged, c.want) {
			t.Errorf("%v with fixed %s: tunes %v, ranges %v, want %v", c.tune, c.fixed, got, ranged, c.want)
		}
		e.Tuning.Search = SearchGrid
		if e.Ranged("rate") {
			t.Error("a grid has ranges")
		}
	}
}

// The default division has no name in resolved settings, so that settings of earlier versions are the same.
func TestDivisionByCostIsTheDefault(t *testing.T) {
	for _, c := range []struct {
		file string
		sets []Override
		want string
	}{
		{"", nil, ""},
		{"", sets("tuning.division=cost"), ""},
		{"", sets("tuning.division=noise"), DivisionNoise},
		{"tuning: {division: noise}", nil, DivisionNoise},
		{"tuning: {division: noise}", sets("tuning.division=cost"), ""},
	} {
		if e, err := Resolve(File{Text: []byte(c.file)}, c.sets); err != nil || e.Tuning.Division != c.want {
			t.Errorf("%q, %v: division %q, %v, want %q", c.file, c.sets, e.Tuning.Division, err, c.want)
		}
	}
}

// A batch size becomes its share of the tuning set, with three digits.
func TestRatesHaveThreeDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, n := rapid.Float64Range(0.01, 1).Draw(t, "q"), rapid.IntRange(100, 1e9).Draw(t, "n")
		b := rapid.IntRange(1, int(q*float64(n))).Draw(t, "b")
		rates, err := Tuning{BatchSizes: []int{b}}.Rates(q, n)
		if err != nil {
			t.Fatal(err)
		}
		exact := float64(b) / (q * float64(n))
		if math.Abs(rates[0]/exact-1) > 0.005*(1+1e-12) {
			t.Fatalf("%d of %v: %v is not near %v", b, q*float64(n), rates[0], exact)
		}
		if text := strconv.FormatFloat(rates[0], 'e', -1, 64); len(text) > len("1.23e-09") {
			t.Fatalf("%s has more than three digits", text)
		}
	})
	if _, err := (Tuning{BatchSizes: []int{64, 700}}).Rates(0.1, 6000); err == nil {
		t.Error("a batch is larger than its data")
	}
	if rates, err := (Tuning{BatchSizes: []int{600}}).Rates(0.1, 6000); err != nil || rates[0] != 1 {
		t.Errorf("a batch of all: %v, %v", rates, err)
	}
	if rates, err := (Tuning{SamplingRates: []float64{0.12345}}).Rates(0.1, 6000); err != nil || rates[0] != 0.12345 {
		t.Errorf("rates that are given: %v, %v", rates, err)
	}
}

// Among settings that exclude each other, the strongest layer's choice counts.
func TestLayersOfTuning(t *testing.T) {
	resolve := func(file string, overrides ...string) Experiment {
		t.Helper()
		e, err := Resolve(File{Text: []byte(file)}, sets(overrides...))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := resolve("tuning: {sampling_rates: [0.1, 0.2]}")
	if len(e.Tuning.BatchSizes) != 0 || !slices.Equal(e.Tuning.SamplingRates, []float64{0.1, 0.2}) {
		t.Errorf("sampling rates over the preset's batches: %+v", e.Tuning)
	}
	e = resolve("tuning: {sampling_rates: [0.1, 0.2]}", "tuning.batch_sizes=7")
	if !slices.Equal(e.Tuning.BatchSizes, []int{7}) || len(e.Tuning.SamplingRates) != 0 {
		t.Errorf("a batch over sampling rates: %+v", e.Tuning)
	}
	e = resolve("privacy: {fixed: noise, noise_multiplier: 2}", "privacy.epsilon=1")
	if *e.Privacy.Epsilon != 1 || *e.Privacy.NoiseMultiplier != 2 {
		t.Errorf("epsilon over fixed noise: %+v", e.Privacy)
	}
	e = resolve("privacy: {fixed: noise, noise_multiplier: 2}", "privacy.noise_multiplier=3")
	if *e.Privacy.Epsilon != 4 || *e.Privacy.NoiseMultiplier != 3 {
		t.Errorf("noise over fixed noise: %+v", e.Privacy)
	}
}

func TestLayersOfPresets(t *testing.T) {
	for _, c := range []struct {
		file      string
		overrides []string
		want      string
	}{
		{"", nil, "glyphs"},
		{"preset: imdb-adam", nil, "imdb-adam"},
		{"preset: imdb-adam", []string{"dataset=imdb"}, "imdb-adam"},
		{"preset: imdb-adam", []string{"dataset=mnist"}, "mnist"},
		{"dataset: mnist", []string{"preset=cifar-10-all"}, "cifar-10-all"},
		{"dataset: mnist\npreset: mnist-all", nil, "mnist-all"},
		{"preset: files-adam-all", []string{"data.train=a.csv"}, "files-adam-all"},
	} {
		e, err := Resolve(File{Text: []byte(c.file)}, sets(c.overrides...))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Preset(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if e.Preset != c.want || e.Dataset != want.Dataset || e.Training.Optimizer != want.Training.Optimizer || e.Privacy.MeanRepetitions != want.Privacy.MeanRepetitions {
			t.Errorf("%q, %v: %s for %s, want %s", c.file, c.overrides, e.Preset, e.Dataset, c.want)
		}
	}
}

func TestTunedByDefault(t *testing.T) {
	for tune, rate := range map[string]bool{"auto": true, "rule": false, "rate": true, "all": true, "clip": false} {
		e := Experiment{Tuning: Tuning{Tune: []string{tune}}}
		if e.Tunes(TuneRate) != rate || e.Tunes(TuneBatch) != (tune == "all") || e.Tunes(TuneClip) != (tune == "clip") {
			t.Errorf("%s tunes rate %t, batch %t, clip %t", tune, e.Tunes(TuneRate), e.Tunes(TuneBatch), e.Tunes(TuneClip))
		}
	}
}
