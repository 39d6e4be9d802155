package configs

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fill draws a value for every setting, so that a new setting is tested without anyone thinking of it.
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
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(1e-9, 1e9).Draw(t, path))
	case reflect.Int:
		v.SetInt(rapid.Int64Range(-5, 1000).Draw(t, path))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, path))
	case reflect.String:
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
		want, err := Resolve(File{}, []Override{{"dataset", name}})
		if err != nil {
			t.Fatal(err)
		}
		if want.Dataset != name {
			t.Errorf("preset %s is for data set %s", name, want.Dataset)
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
	}{
		{"mnist", "cnn", 1, 0.0213, 4, 40, 9},
		{"fashion-mnist", "mlp", 3, 0.0213, 3, 40, 10},
	} {
		e, err := Preset(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p := e.Privacy
		if e.Model != c.model || p.ClippingNorm != c.clippingNorm || p.SamplingRate != c.samplingRate || p.Epochs != c.epochs ||
			p.Repetitions != "poisson" || p.MeanRepetitions != 15 || p.SubsetRate != 0.1 || p.Delta != 1e-5 || e.Training.Optimizer != "dp-sgd" {
			t.Errorf("%s: %+v", c.name, e)
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
	}
}
