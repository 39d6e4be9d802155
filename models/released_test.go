package models_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// parametersOf returns parameters for a model's graph, each value another one.
func parametersOf(t *testing.T, r models.Released) (out []train.Parameter) {
	t.Helper()
	n, err := models.New(r.Network, r.Shape, r.Outputs, r.Options)
	if err != nil {
		t.Fatal(err)
	}
	value := float32(0)
	for _, p := range n.Parameters {
		values := make([]float32, p.Shape().TotalSize())
		for i := range values {
			value++
			values[i] = value
		}
		out = append(out, train.Parameter{Name: p.Name(), Shape: p.Shape(), Values: values})
	}
	return out
}

// A saved model is read back as it was, its activation and temperature with their defaults.
func TestSavedModelsAreOpened(t *testing.T) {
	tanh := models.Options{Activation: models.Tanh}
	for _, r := range []models.Released{
		{Network: "cnn", Shape: []int{1, 28, 28}, Outputs: 10, Dataset: "mnist", Temperature: 1, Options: tanh},
		{Network: "mlp:3", Shape: []int{2}, Outputs: 2, Dataset: "files", Classes: []string{"a", "b"}, Temperature: 1.5,
			Options: models.Options{Activation: models.TemperedSigmoid{Scale: 1.5, Temperature: 2.5, Offset: 0.7}}, Schema: []byte(`{"columns":[]}`)},
		{Network: "embedding", Shape: []int{6}, Outputs: 2, Dataset: "imdb", Temperature: 1, Options: models.Options{Vocabulary: 9, Activation: models.Tanh}},
		{Network: "linear", Shape: []int{4}, Outputs: 1, Temperature: 1, Options: tanh},
	} {
		r.Parameters = parametersOf(t, r)
		dir := filepath.Join(t.TempDir(), "released")
		saved := r
		if r.Options.Activation == models.Tanh {
			saved.Options.Activation = models.TemperedSigmoid{}
		}
		if err := saved.Save(dir); err != nil {
			t.Fatal(r.Network, err)
		}
		got, err := models.Open(dir)
		if err != nil {
			t.Fatal(r.Network, err)
		}
		if got.Schema != nil { // the file is indented
			var b bytes.Buffer
			if err := json.Compact(&b, got.Schema); err != nil {
				t.Fatal(err)
			}
			got.Schema = b.Bytes()
		}
		if !reflect.DeepEqual(*got, r) {
			t.Errorf("%s: got %+v", r.Network, got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "model.json")); err != nil || strings.Contains(string(text), `"image"`) != (r.Dataset == "mnist") {
			t.Errorf("%s: %s, %v", r.Network, text, err)
		}
		parameters := filepath.Join(dir, "model.safetensors")
		file, err := os.ReadFile(parameters)
		if err != nil {
			t.Fatal(err)
		}
		file[len(file)-1] ^= 1
		if err := os.WriteFile(parameters, file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := models.Open(dir); err == nil || !strings.Contains(err.Error(), "their SHA-256 differ") {
			t.Errorf("%s: with other parameters: %v", r.Network, err)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	for want, change := range map[string]func(r *models.Released){
		`unknown model "lineal"`: func(r *models.Released) { r.Network = "lineal" },
		"which isn't there":      func(r *models.Released) { r.Parameters = r.Parameters[1:] },
		"aren't finite":          func(r *models.Released) { r.Parameters[0].Values[0] = float32(math.NaN()) },
		"2 outputs and 1 class":  func(r *models.Released) { r.Classes = []string{"a"} },
		"temperature -1":         func(r *models.Released) { r.Temperature = -1 },
		"schema":                 func(r *models.Released) { r.Schema = []byte("{") },
	} {
		r := models.Released{Network: "linear", Shape: []int{3}, Outputs: 2}
		r.Parameters = parametersOf(t, r)
		change(&r)
		dir := filepath.Join(t.TempDir(), "released")
		if err := r.Save(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: something was written", want)
		}
	}
}

// Every version's released folders are opened, in the layouts of the graph.
func TestOpenReadsReleases(t *testing.T) {
	for _, folder := range []string{"released-1", "released-2", "released-3"} {
		r, err := models.Open(filepath.Join("..", "cmd", "internal", "release", "testdata", folder))
		if err != nil {
			t.Fatal(err)
		}
		if r.Dataset != "glyphs" || r.Network != "linear" || !reflect.DeepEqual(r.Parameters[0].Shape, []int{784, 10}) || r.Parameters[1].Name != "fc1.bias" {
			t.Errorf("%s: %s of %s, parameters of shape %v", folder, r.Network, r.Dataset, r.Parameters[0].Shape)
		}
	}
	if _, err := models.Open(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
}
