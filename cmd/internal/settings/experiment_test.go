package settings

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fill draws a value for each setting, so that new settings are tested too.
func fill(t *rapid.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), join(path, keyOf(v.Type().Field(i))))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, path+" given") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), path)
		}
	case reflect.Slice:
		n := rapid.IntRange(1, 5).Draw(t, path+" length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), path)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(1, 3).Draw(t, path+" length") {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(t, value, path)
			v.SetMapIndex(reflect.ValueOf(rapid.StringMatching(`[a-z*]{1,3}`).Draw(t, path+" key")), value)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), path)
		}
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(1e-9, 1e9).Draw(t, path))
	case reflect.Int:
		v.SetInt(rapid.Int64Range(-5, 1000).Draw(t, path))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, path))
	case reflect.String:
		if path == "dataset" || path == "preset" { // never empty
			v.SetString(rapid.StringMatching(`[!-~]{1,12}`).Draw(t, path))
			return
		}
		v.SetString(rapid.StringMatching(`[ -~]{0,12}`).Draw(t, path))
	default:
		t.Fatalf("%s: no generator for %s", path, v.Kind())
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want, got Experiment
		fill(t, reflect.ValueOf(&want).Elem(), "")
		text, err := want.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := got.decode(text); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s\n%s", diff, text)
		}
	})
}

func TestResolvedPresetsResolveToThemselves(t *testing.T) {
	for _, name := range Presets() {
		want, err := Resolve(File{}, []Override{{Key: "preset", Value: name}})
		if err != nil {
			t.Fatal(err)
		}
		if want.Preset != name || !strings.HasPrefix(name, want.Dataset) || !slices.Contains(Datasets(), want.Dataset) {
			t.Errorf("preset %s is %s for data set %s", name, want.Preset, want.Dataset)
		}
		text, err := want.YAML()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(File{Text: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// The paper's Tables "Tuning eta" and "data_sets": learning rates are 10^-i from i = first in steps of -0.5.
func TestPresetsHaveThePapersValues(t *testing.T) {
	for _, c := range []struct {
		name, model                       string
		clippingNorm, samplingRate, first float64
		epochs                            float64
		rates                             int
		tuningSet                         int // q n
		batches                           []float64
		passes                            []float64
	}{
		{"mnist", "cnn", 1, 0.0213, 4, 40, 9, 6000, []float64{0.0213, 0.0427}, []float64{10, 20, 30, 40}},
		{"fashion-mnist", "mlp", 3, 0.0213, 3, 40, 10, 6000, []float64{0.0213, 0.0427}, []float64{10, 20, 30, 40}},
		{"cifar-10", "linear", 3, 0.0256, 3, 40, 10, 5000, []float64{0.0128, 0.0256}, []float64{20, 30, 40}},
		{"imdb", "embedding", 1, 0.0256, 4, 110, 9, 2500, []float64{0.0256, 0.0512}, []float64{70, 90, 110}},
	} {
		for _, overlay := range []string{"", "-adam", "-all", "-adam-all"} {
			e, err := Preset(c.name + overlay)
			if err != nil {
				t.Fatal(err)
			}
			optimizer, mean, tune := "dp-sgd", 15.0, "rate"
			if strings.Contains(overlay, "adam") {
				optimizer = "dp-adam"
			}
			if strings.Contains(overlay, "all") {
				mean, tune = 45, "all"
			}
			p := e.Privacy
			if e.Dataset != c.name || e.Model != c.model || p.ClippingNorm != c.clippingNorm || p.SamplingRate != c.samplingRate || p.Epochs != c.epochs ||
				p.Repetitions != "poisson" || p.MeanRepetitions != mean || p.SubsetRate != 0.1 || p.Delta != 1e-5 || e.Training.Optimizer != optimizer ||
				!slices.Equal(e.Tuning.Tune, []string{tune}) {
				t.Errorf("%s%s: %+v", c.name, overlay, e)
			}
			if len(e.Tuning.LearningRates) != c.rates {
				t.Errorf("%s: %d learning rates, want %d", c.name, len(e.Tuning.LearningRates), c.rates)
			}
			for i, rate := range e.Tuning.LearningRates {
				want := math.Pow(10, float64(i)/2-c.first)
				if math.Abs(rate/want-1) > 1e-12 {
					t.Errorf("%s: learning rate %d is %v, want %v", c.name, i, rate, want)
				}
			}
			batches, err := e.Tuning.Rates(0.1, 10*c.tuningSet)
			if err != nil || !slices.Equal(batches, c.batches) || !slices.Equal(e.Tuning.Epochs, c.passes) {
				t.Errorf("%s: sampling rates %v, %v, epochs %v", c.name, batches, err, e.Tuning.Epochs)
			}
		}
	}
}

// Presets have a value for each key, from their own layer or a lower one.
func TestEveryPresetIsValidAndDescribed(t *testing.T) {
	described := map[string]string{}
	for _, name := range Presets() {
		e, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := Describe(name)
		if err != nil || described[text] != "" || len(text) < 30 || strings.Contains(text, "\n") {
			t.Errorf("%s: %q, which %q is too; %v", name, text, described[text], err)
		}
		described[text] = name
		if adam := strings.Contains(text, "DP-Adam"); adam != (e.Training.Optimizer == "dp-adam") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if len(described) != 4*len(Datasets()) {
		t.Errorf("%d presets for %d data sets", len(described), len(Datasets()))
	}
	if _, err := Describe("mnist-sgd"); err == nil {
		t.Error("there is a line for what doesn't exist")
	}
}

// Twice the mean is rounded up: no trials at all would have no mean.
func TestBinomialTrials(t *testing.T) {
	if n := (Privacy{MeanRepetitions: 0.3}).BinomialTrials(); n != 1 {
		t.Errorf("%d trials of mean 0.3, want 1", n)
	}
}
