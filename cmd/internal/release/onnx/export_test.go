package onnx_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/onnx"
	"github.com/dptrain/dptrain/cmd/internal/release/onnx/onnxtest"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// linear returns a linear model of a table, and its parameters. weights has the rows of the matrix [outputs, inputs].
func linear(task, table string, classes []string, bias []float32, weights ...[]float32) (release.Model, []train.Parameter) {
	in, out := len(weights[0]), len(weights)
	return release.Model{
			Version: 2, Dataset: "files", Network: "linear", Activation: release.Activation{Scale: 2, Temperature: 2, Offset: 1},
			Shape: []int{in}, Outputs: out, Task: task, Classes: classes, Temperature: 2,
			Layers: []networks.Layer{{Kind: networks.KindLinear, Name: "fc1", In: in, Out: out}},
			Input:  json.RawMessage(`{"table": ` + table + `}`),
		}, []train.Parameter{
			{Name: "fc1.weight", Shape: []int{out, in}, Values: slices.Concat(weights...)}, {Name: "fc1.bias", Shape: []int{out}, Values: bias},
		}
}

// read exports a model and reads the file.
func read(t *testing.T, m release.Model, parameters []train.Parameter, o onnx.Options) (*onnxtest.Model, onnx.Signature) {
	t.Helper()
	file, signature, err := onnx.Export(m, parameters, o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	model := onnxtest.Open(t, path)
	var names []string
	for _, v := range signature.Inputs {
		names = append(names, v.Name)
	}
	for i, v := range model.Inputs {
		if i >= len(names) || names[i] != v.Name || v.Doc != signature.Inputs[i].Meaning {
			t.Errorf("input %+v, and the signature has %+v", v, signature.Inputs)
		}
	}
	return model, signature
}

func doubles(values ...float64) onnxtest.Tensor {
	return onnxtest.Tensor{Type: onnxtest.Double, Shape: []int{len(values)}, Values: values}
}

func integers(values ...float64) onnxtest.Tensor {
	return onnxtest.Tensor{Type: onnxtest.Int64, Shape: []int{len(values)}, Values: values}
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool {
		return math.Abs(a-b) <= 1e-6*(1+math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
	})
}

// Samples were computed by hand. Row by row: a is 46 → 30 (clipped) → 4; missing → 40 → 4 with the indicator; 20 → 2.
const mixed = `{"label": {"name": "y"}, "shape": [9], "columns": [
	{"name": "a", "clip": {"low": 0, "high": 30}, "scale": {"shift": 10, "divisor": 5}, "missing": {"fill": 40, "indicator": true}},
	{"name": "class", "categories": ["x", "", "<y>"]},
	{"name": "b", "missing": {"fill": -1, "words": ["unknown", "-9.9e2", "0x10"]}},
	{"name": "c", "clip": {"low": -2, "high": 2}},
	{"name": "d", "shape": [2], "scale": {"shift": 1700000000, "divisor": 2}}]}`

func TestExportTable(t *testing.T) {
	m, parameters := linear(release.Classification, mixed, []string{"no", "yes"}, []float32{0.5, 0},
		[]float32{1, 10, 0, 0, 0, 1, 0, 1, 0}, []float32{0, 0, 1, 2, 3, 0, 1, 0, 1})
	model, signature := read(t, m, parameters, onnx.Options{})
	in := map[string]onnxtest.Tensor{
		"a": doubles(46, math.NaN(), 20), "class": integers(0, 2, 1), "b": doubles(5, -990, 0), "c": doubles(7, -0.5, math.NaN()),
		"d": {Type: onnxtest.Double, Shape: []int{3, 2}, Values: []float64{1700000001, 1700000002.5, 1700000000, 1700000000, 1700000004, 1700000000}},
	}
	out, err := model.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	// Encoded: 4 0 | 1 0 0 | 5 | 2 | 0.5 1.25;  4 1 | 0 0 1 | -1 | -0.5 | 0 0;  2 0 | 0 1 0 | 0 | NaN | 2 0.
	logits := []float64{4 + 5 + 0.5 + 0.5, 1 + 2 + 1.25, 4 + 10 - 1 + 0.5, 3 - 0.5, math.NaN(), math.NaN()}
	if got := out["logits"].Values; !near(got, logits) {
		t.Errorf("logits %v, want %v", got, logits)
	}
	for i := range 2 {
		p := 1 / (1 + math.Exp((logits[2*i+1]-logits[2*i])/2))
		if got := out["probabilities"].Values[2*i : 2*i+2]; !near(got, []float64{p, 1 - p}) {
			t.Errorf("probabilities %v, want %v", got, p)
		}
	}
	// A column is called class, so the output gets another name.
	if got := out["class_output"]; got.Type != onnxtest.Int64 || got.Values[0] != 0 || got.Values[1] != 0 || signature.Outputs[0].Meaning != `position in ["no","yes"]` {
		t.Errorf("classes %v, %+v", got, signature.Outputs)
	}
	if signature.Inputs[1].Meaning != `position in ["x","","<y>"]` || signature.Inputs[1].Type != "int64" || signature.Inputs[4].Type != "double" {
		t.Errorf("inputs %+v", signature.Inputs)
	}
	var described release.Model
	if err := json.Unmarshal([]byte(model.Properties["model.json"]), &described); err != nil || described.Temperature != 2 || model.Producer != "dptrain" {
		t.Errorf("%s, %v", model.Properties, err)
	}
	for _, position := range []float64{3, -1, -3} {
		in["class"] = integers(0, position, 0)
		if _, err := model.Run(in); err == nil || !strings.Contains(err.Error(), "out of data bounds") {
			t.Errorf("position %v: %v", position, err)
		}
	}
}

func TestExportEncoded(t *testing.T) {
	m, parameters := linear(release.Classification, mixed, nil, []float32{0, 1}, []float32{1, 2}, []float32{3, 4})
	model, _ := read(t, m, parameters, onnx.Options{Encoded: true})
	out, err := model.Run(map[string]onnxtest.Tensor{"x": {Type: onnxtest.Float, Shape: []int{2, 2}, Values: []float64{1, 1, -1, 0}}})
	if err != nil || !near(out["logits"].Values, []float64{3, 8, -1, -2}) || !slices.Equal(out["class"].Values, []float64{1, 0}) {
		t.Errorf("%v, %v", out, err)
	}
	if out, err = model.Run(map[string]onnxtest.Tensor{"x": {Type: onnxtest.Float, Shape: []int{0, 2}}}); err != nil || len(out["class"].Values) != 0 {
		t.Errorf("no rows: %v, %v", out, err)
	}
}

func TestExportNumber(t *testing.T) {
	m, parameters := linear(release.Regression, `{"label": {"scale": {"shift": 100, "divisor": 10}, "clip": {"low": 90, "high": 140}}, "columns": [{"name": "value"}]}`,
		nil, []float32{1}, []float32{2})
	model, signature := read(t, m, parameters, onnx.Options{})
	out, err := model.Run(map[string]onnxtest.Tensor{"value": doubles(0, 3, -90)})
	if got := out["value_output"]; err != nil || len(out) != 1 || got.Type != onnxtest.Double || !near(got.Values, []float64{110, 140, 90}) || len(signature.Outputs) != 1 {
		t.Errorf("%v, %v", out, err)
	}
}

func TestExportRefuses(t *testing.T) {
	m, parameters := linear(release.Classification, mixed, nil, []float32{0, 1}, []float32{1, 2}, []float32{3, 4})
	if _, _, err := onnx.Export(m, parameters[:1], onnx.Options{}); err == nil {
		t.Error("a missing parameter")
	}
	unknown := m
	unknown.Layers = append(slices.Clone(m.Layers), networks.Layer{Kind: "attention"})
	if _, _, err := onnx.Export(unknown, parameters, onnx.Options{}); err == nil || !strings.Contains(err.Error(), `"attention"`) {
		t.Errorf("an unknown layer: %v", err)
	}
	m.Input = json.RawMessage(`{"table": 3}`)
	if _, _, err := onnx.Export(m, parameters, onnx.Options{}); err == nil {
		t.Error("a schema that is a number")
	}
}

// A model without a temperature has temperature 1: its probabilities are the softmax of its outputs.
func TestExportWithoutTemperature(t *testing.T) {
	m, parameters := linear(release.Classification, mixed, nil, []float32{0, 1}, []float32{1, 2}, []float32{3, 4})
	m.Temperature = 0
	model, _ := read(t, m, parameters, onnx.Options{Encoded: true})
	out, err := model.Run(map[string]onnxtest.Tensor{"x": {Type: onnxtest.Float, Shape: []int{1, 2}, Values: []float64{0, 0}}})
	if p := 1 / (1 + math.E); err != nil || !near(out["probabilities"].Values, []float64{p, 1 - p}) {
		t.Errorf("%v, %v; want probability %v", out, err, p)
	}
}
