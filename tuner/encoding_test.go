package tuner

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// drawnOutcomes returns outcomes of all sorts. Values of models have any bits except a NaN's, which equals nothing.
func drawnOutcomes(t *rapid.T) []PrivateOutcome {
	parameter := rapid.Custom(func(t *rapid.T) train.Parameter {
		p := train.Parameter{Name: rapid.StringMatching(`[ -~é]{0,5}`).Draw(t, "name"), Shape: []int{}}
		n := 1
		for range rapid.IntRange(0, 3).Draw(t, "axes") {
			d := rapid.IntRange(0, 3).Draw(t, "size")
			p.Shape, n = append(p.Shape, d), n*d
		}
		p.Values = make([]float32, n)
		for k := range p.Values {
			p.Values[k] = rapid.Float32().Draw(t, "value")
		}
		return p
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) PrivateOutcome {
		o := PrivateOutcome{
			Trial: rapid.Int().Draw(t, "trial"), Score: lowest, Diverged: rapid.Bool().Draw(t, "diverged"),
			Failure: rapid.StringMatching(`[ -~é\n]{0,5}`).Draw(t, "failure"), Trace: train.PrivateTrace{Seconds: rapid.Float64().Draw(t, "seconds")},
		}
		if rapid.Bool().Draw(t, "scored") {
			o.Score = rapid.Float64().Draw(t, "score")
		}
		if rapid.Bool().Draw(t, "model") {
			o.Parameters = rapid.SliceOfN(parameter, 0, 3).Draw(t, "parameters")
		}
		return o
	}), 0, 4).Draw(t, "outcomes")
}

func TestOutcomesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawnOutcomes(t)
		data, err := MarshalOutcomes(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalOutcomes(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v, want %+v", got, err, want)
		}
		if _, err := UnmarshalOutcomes(data[:rapid.IntRange(0, len(data)-1).Draw(t, "length")]); err == nil {
			t.Fatal("cut short, and no error")
		}
	})
}

// Outcomes that can't be encoded are refused, and so are bytes with a right checksum that can't be outcomes.
func TestOutcomesThatAreRefused(t *testing.T) {
	for name, o := range map[string]PrivateOutcome{
		"score":   {Score: math.NaN()},
		"seconds": {Trace: train.PrivateTrace{Seconds: math.Inf(1)}},
		"shape":   {Parameters: []train.Parameter{{Name: "w", Shape: []int{2}, Values: []float32{1}}}},
	} {
		if out, err := MarshalOutcomes([]PrivateOutcome{o}); out != nil || err == nil {
			t.Errorf("%s: %x, %v", name, out, err)
		}
	}
	model := safetensors.Tensor{Name: "w", Shape: []int{1}, Data: []float32{1}}
	for want, c := range map[string]struct {
		headers any
		tensors []safetensors.Tensor
	}{
		"a model of 2 parameters, and 1 are left": {[]outcomeHeader{{Parameters: new(2)}}, []safetensors.Tensor{model}},
		"a model of -1 parameters":                {[]outcomeHeader{{Parameters: new(-1)}}, nil},
		"1 tensors of no model":                   {[]outcomeHeader{{}}, []safetensors.Tensor{model}},
		"integers":                                {[]outcomeHeader{{Parameters: new(1)}}, []safetensors.Tensor{{Name: "w", Ints: []int64{1}}}},
		"unknown field":                           {[]any{map[string]int{"more": 1}}, nil},
	} {
		data, err := safetensors.Seal(outcomesKind, c.headers, c.tensors)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := UnmarshalOutcomes(data); out != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, want %q", out, err, want)
		}
	}
}
