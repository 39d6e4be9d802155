package experiment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// A run knows its training file by the name, wherever it was moved, and by the file itself, whatever its name is now.
func TestTrainedOn(t *testing.T) {
	dir := t.TempDir()
	train := filepath.Join(dir, "private.csv")
	for path, text := range map[string]string{
		"private.csv": "x,y\n1,a\n", "moved/private.csv": "x,y\n1,a\n", "other.csv": "x,y\n1,a\n", "run/private/settings.yaml": "data: {train: " + train + ", test: t.csv, label: y}\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(train, filepath.Join(dir, "linked.csv")); err != nil {
		t.Skip(err)
	}
	for file, want := range map[string]bool{"private.csv": true, "moved/private.csv": true, "linked.csv": true, "other.csv": false} {
		if got := TrainedOn(filepath.Join(dir, "run"), filepath.Join(dir, file)); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
	if TrainedOn(filepath.Join(dir, "elsewhere"), train) {
		t.Error("a run without its private folder knows what it was trained on")
	}
}

// Each setting of the command becomes its setting of package train, as the optimizer's text shows.
func TestOptimizerOfSettings(t *testing.T) {
	for _, c := range []struct {
		t    settings.Training
		want string
	}{
		{settings.Training{Optimizer: "dp-sgd"}, "dp-sgd"},
		{settings.Training{Optimizer: "dp-adam"}, "dp-adam"},
		{settings.Training{Optimizer: "dp-momentum", Momentum: new(0.8)}, "dp-momentum 0.8"},
		{settings.Training{Optimizer: "dp-nesterov", Momentum: new(0.9), WeightDecay: new(0.1)}, "dp-nesterov 0.9, weight decay 0.1"},
		{settings.Training{Optimizer: "dp-adamw", WeightDecay: new(0.01)}, "dp-adamw, weight decay 0.01"},
		{settings.Training{Optimizer: "dp-sgd", Schedule: "linear", Accumulate: 4}, "dp-sgd, linear to 0, 4 noisy means to an update"},
		{settings.Training{Optimizer: "dp-sgd", Schedule: "constant", Warmup: 0.1}, "dp-sgd, warm-up of 0.1"},
		{settings.Training{Optimizer: "dp-sgd", Schedule: "cosine", Warmup: 0.1, Average: 0.99}, "dp-sgd, warm-up of 0.1, then cosine to 0, average 0.99"},
	} {
		o := Optimizer(c.t, 0.3)
		if o.String() != c.want || o.LearningRate != 0.3 {
			t.Errorf("%s at %v, want %s", o, o.LearningRate, c.want)
		}
	}
}
