package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// hostile is a name that would run a script if it weren't escaped.
const hostile = `</script><img src=x onerror=alert(1)>"'&` + "\u202e\x1b[31m"

// aRelease returns a release of variant 1 with a grid of learning rates. Its epsilon is the event's, by
// accountant.Epsilon at delta 1e-5.
func aRelease() release.Release {
	tuned := 0.1
	return release.Release{
		Parameters: []train.Parameter{{Name: "w", Shape: []int{2, 3}, Values: make([]float32, 6)}},
		Model: release.Model{
			Dataset: "mnist", Network: "cnn", Activation: release.Activation{Scale: 2, Temperature: 2, Offset: 1},
			Shape: []int{1, 28, 28}, Outputs: 2, Task: release.Classification, Classes: []string{"cat", "dog"},
		},
		Score: release.Score{Metric: train.Accuracy, Value: 0.97831},
		Hyperparameters: release.Hyperparameters{
			Optimizer: "dp-sgd", LearningRate: 0.9, TunedLearningRate: &tuned, SamplingRate: 0.0213,
			ExpectedBatchSize: 1150.2, Steps: 1878, Epochs: 40, ClippingNorm: 1, NoiseMultiplier: 1.4830747,
		},
		Privacy: release.Privacy{
			Epsilon: 3.999994960513318, Delta: 1e-5, Samples: 60000,
			SamplingRate: 0.0213, NoiseMultiplier: 1.4830747, ClippingNorm: 1, Steps: 1878,
			Tuning: &release.Tuning{
				Method: "variant 1", SubsetRate: 0.1, Repetitions: "poisson", MeanRepetitions: 15,
				Space: release.Space{
					Search: "grid", Candidates: 3, Missed: 0.0067, FinalLearningRates: [2]float64{0.09, 9},
					Parameters: []tuner.Parameter{{Name: "learning rate", Values: tuner.Values{List: []float64{0.01, 0.1, 1}}}},
					Runs:       []tuner.Run{{SamplingRate: 0.0213, Steps: 1878, NoiseMultiplier: 1.4830747}},
				},
			},
			Accounting: "best", Bound: "Theorem X",
		},
	}
}

const privateJSON = `{"warning": "private", "repetitions": 3, "subset_size": 6021, "best": 1, "final_seconds": 20, "trials": [
  {"learning_rate": 0.01, "sampling_rate": 0.0213, "steps": 1878, "noise_multiplier": 1.48, "clipping_norm": 1, "score": 0.5, "seconds": 1},
  {"learning_rate": 0.1, "sampling_rate": 0.0213, "steps": 1878, "noise_multiplier": 1.48, "clipping_norm": 1, "score": 0.9, "seconds": 2},
  {"learning_rate": 1, "sampling_rate": 0.0213, "steps": 1878, "noise_multiplier": 1.48, "clipping_norm": 1, "diverged": true, "seconds": 4}]}`

// runFolder writes a run's folder and returns its path.
func runFolder(t *testing.T, name string, r release.Release) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	released := filepath.Join(dir, "released")
	if err := os.MkdirAll(released, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(released); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "private", "run.json"), privateJSON)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	for _, path := range []string{"released/privacy.json", "released", "private", ""} {
		if err := os.Chtimes(filepath.Join(dir, path), day, day); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit replaces values in a JSON file of one object.
func edit(t *testing.T, path string, values map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	for k, v := range values {
		object[k] = v
	}
	if text, err = json.Marshal(object); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, dir string) Run {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pages returns both pages of a run's folder. The curves have made-up costs.
func pages(t *testing.T, dir string) (public, private string) {
	t.Helper()
	r := mustOpen(t, dir)
	p, err := OpenPrivate(dir)
	if err != nil {
		t.Fatal(err)
	}
	open, err := Public([]Run{r}, []Accounting{madeUp()})
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := Private([]Run{r}, []*PrivateRun{p})
	if err != nil {
		t.Fatal(err)
	}
	return string(open), string(hidden)
}

// madeUp returns curves with invented values.
func madeUp() Accounting {
	return Accounting{ByDelta: []Cost{{1e-10, [3]float64{6, 7, 7.5}}, {1e-5, [3]float64{4, 5, 5.5}}, {1e-2, [3]float64{1.25, 2.5, 3}}}}
}
