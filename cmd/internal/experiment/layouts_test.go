package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// The released model of version 1, written by hand as version 2 writes it, predicts the same bits. With layers that
// aren't its model's it isn't opened.
func TestOpensBothLayouts(t *testing.T) {
	description, err := os.ReadFile(filepath.Join(earlier, "released-1", "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(earlier, "released-1", "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	old, _, err := safetensors.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []safetensors.Tensor
	for _, p := range old {
		if p.Name == "fc1.weight" { // [784, 10]
			values := make([]float32, len(p.Data))
			for i := range 784 {
				for k := range 10 {
					values[k*784+i] = p.Data[i*10+k]
				}
			}
			p.Shape, p.Data = []int{10, 784}, values
		} else {
			p.Shape = []int{10}
		}
		tensors = append(tensors, p)
	}
	file, err = safetensors.Encode(tensors, nil)
	if err != nil {
		t.Fatal(err)
	}
	const layers = `[{"kind": "flatten"}, {"kind": "linear", "name": "fc1", "in": 784, "out": 10}]`
	written := func(layers string) string {
		dir := t.TempDir()
		text := bytes.Replace(description, []byte(`"version": 1,`), []byte(`"version": 2, "layers": `+layers+`,`), 1)
		if !json.Valid(text) {
			t.Fatalf("%s", text)
		}
		for name, contents := range map[string][]byte{"model.json": text, "model.safetensors": file} {
			if err := os.WriteFile(filepath.Join(dir, name), contents, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}

	samples := make([]float32, 2*784)
	for i := range samples {
		samples[i] = float32(i%17) / 9
	}
	data, err := train.NewClassification(samples, make([]int32, 2), 10)
	if err != nil {
		t.Fatal(err)
	}
	var outputs [2][]float32
	for i, dir := range []string{filepath.Join(earlier, "released-1"), written(layers)} {
		r, err := Open(dir, cpu.New(cpu.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if outputs[i], err = r.Predict(t.Context(), data.Data); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(outputs[0], outputs[1]) {
		t.Errorf("%v in the old layout, %v in the new one", outputs[0], outputs[1])
	}
	for _, wrong := range []string{
		strings.Replace(layers, "784", "10", 1),
		strings.Replace(layers, `{"kind": "flatten"}, `, "", 1),
		strings.Replace(layers, "fc1", "fc2", 1),
	} {
		if _, err := Open(written(wrong), cpu.New(cpu.Options{})); !errors.Is(err, release.ErrNoModel) || !strings.Contains(err.Error(), "layers") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
