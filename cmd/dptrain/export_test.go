package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release/onnx/onnxtest"
)

// exportedModel exports a fixture's model and reads the file.
func exportedModel(t *testing.T, dir string, args ...string) *onnxtest.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.onnx")
	output(t, append([]string{"export", dir, path}, args...)...)
	return onnxtest.Open(t, path)
}

// Graphs of every kind of model compute what this program predicts.
func TestExportedPredictions(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.name, func(t *testing.T) {
			dir := f.write(t)
			m := exportedModel(t, dir)
			if f.table != nil {
				checkTable(t, f, dir, m)
				return
			}
			const n = 4
			c := f.compute(t, dir, n)
			in := m.Inputs[0]
			want := map[bool]string{true: "tokens", false: "image"}[f.model.Vocabulary > 0]
			if f.model.Features != "" {
				want = "features"
			}
			if len(m.Inputs) != 1 || in.Name != want {
				t.Fatalf("inputs %+v, want %s", m.Inputs, want)
			}
			out, err := m.Run(map[string]onnxtest.Tensor{in.Name: {Type: in.Type, Shape: append([]int{n}, in.Shape[1:]...), Values: c.Inputs}})
			if err != nil {
				t.Fatal(err)
			}
			checkNear(t, "logits", out["logits"].Values, c.Outputs, 2e-5)
			checkNear(t, "probabilities", out["probabilities"].Values, slices.Concat(c.Probabilities...), 2e-5)
			for i, p := range c.Probabilities {
				if best := slices.Index(p, slices.Max(p)); out["class"].Values[i] != float64(best) {
					t.Errorf("sample %d is of class %v, want %d", i, out["class"].Values[i], best)
				}
			}
		})
	}
}

func checkNear(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d %s, want %d", len(got), what, len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Errorf("%s %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// checkTable gives a graph the rows of a file, by what the inputs' documentation says, and compares with predict.
func checkTable(t *testing.T, f fixture, dir string, m *onnxtest.Model) {
	records, err := csv.NewReader(strings.NewReader(f.rows)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]onnxtest.Tensor{}
	for _, in := range m.Inputs {
		column := slices.Index(records[0], in.Name)
		v := onnxtest.Tensor{Type: in.Type, Shape: []int{len(records) - 1}}
		for _, record := range records[1:] {
			cell := strings.TrimSpace(record[column])
			x, err := strconv.ParseFloat(cell, 64)
			if in.Type == onnxtest.Int64 {
				var list []string
				if err = json.Unmarshal([]byte(strings.TrimPrefix(in.Doc, "position in ")), &list); err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(list, cell) {
					cell = "*"
				}
				x = float64(slices.Index(list, cell))
			}
			if err != nil {
				t.Fatal(err)
			}
			v.Values = append(v.Values, x)
		}
		inputs[in.Name] = v
	}
	out, err := m.Run(inputs)
	if err != nil {
		t.Fatal(err)
	}
	var predicted []prediction
	if err := json.Unmarshal([]byte(output(t, "predict", dir, file(t, f.rows), "--json")), &predicted); err != nil || len(predicted) != len(records)-1 {
		t.Fatal(predicted, err)
	}
	for i, p := range predicted {
		if p.Value != nil {
			checkNear(t, "value", out["value"].Values[i:i+1], []float64{*p.Value}, 1e-6)
			continue
		}
		classes := f.table.Label.Classes
		if got := classes[int(out["class"].Values[i])]; got != *p.Class {
			t.Errorf("row %d is %s, want %s", i, got, *p.Class)
		}
		var want []float64
		for _, class := range classes {
			want = append(want, p.Probabilities[class])
		}
		checkNear(t, "probabilities", out["probabilities"].Values[i*len(classes):(i+1)*len(classes)], want, 2e-6)
	}
}

// A folder of version 1 is exported too, and encoded samples of images give the same as their bytes.
func TestExportsEarlierAndEncoded(t *testing.T) {
	earlier := exportedModel(t, filepath.Join("..", "internal", "release", "testdata", "released-1"), "--encoded")
	x := onnxtest.Tensor{Type: onnxtest.Float, Shape: []int{1, 1, 28, 28}}
	for j := range 784 {
		x.Values = append(x.Values, float64(13*j%11-5)/5)
	}
	out, err := earlier.Run(map[string]onnxtest.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	// As in TestOpensWhatEarlierVersionsReleased.
	checkNear(t, "logits", out["logits"].Values, []float64{-1.969204, 2.383818, 0.604855, 1.413483, 0.872782, 0.741395, -0.273396, 2.041567, 0.542665, -0.979522}, 1e-5)
}
