package release

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func example() Release {
	return Release{
		Parameters: []train.Parameter{{Name: "w", Shape: []int{2}, Values: []float32{1, 2}}},
		Model: Model{
			Dataset: "mnist", Network: "cnn", Activation: Activation{Scale: 2, Temperature: 2, Offset: 1}, Shape: []int{1, 28, 28}, Outputs: 10, Task: Classification,
		},
		Score: Score{Metric: "accuracy", Value: 0.97831},
		Hyperparameters: Hyperparameters{
			Optimizer: "dp-sgd", LearningRate: 0.9, TunedLearningRate: new(0.1), SamplingRate: 0.0213,
			ExpectedBatchSize: 1150.2, Steps: 1878, ClippingNorm: 1, NoiseMultiplier: 1.9671869397891975,
		},
		Privacy: Privacy{
			Epsilon: 3.99999999, Delta: 1e-5, Samples: 60000,
			SamplingRate: 0.0213, NoiseMultiplier: 1.9671869397891975, ClippingNorm: 1, Steps: 1878,
			Tuning:     &Tuning{Method: "variant 1", SubsetRate: 0.1, Repetitions: "poisson", MeanRepetitions: 15, Space: exampleGrid()},
			Accounting: "paper", Bound: "Theorem X", Order: 9,
		},
		MadeBy: build.Info{Program: "dptrain", Version: "v1.2.3", Commit: "0123456789abcdef0123456789abcdef01234567"},
	}
}

func exampleGrid() Space {
	return Space{
		Search: "grid", Candidates: 3, Missed: 0.0067,
		Parameters: []tuner.Parameter{{Name: "learning rate", Values: tuner.Values{List: []float64{0.01, 0.1, 1}}}},
		Runs:       []tuner.Run{{SamplingRate: 0.0213, Steps: 1878, NoiseMultiplier: 1.9671869397891975}},
	}
}

// A person read the golden statements when they were last rewritten (go test -update).
func TestStatement(t *testing.T) {
	variant1, variant2, baseline, single := example(), example(), example(), example()
	variant2.Privacy.Tuning.Method, variant2.Privacy.Insecure = "variant 2", true
	variant2.Privacy.Tuning.Repetitions, variant2.Privacy.Tuning.Shape = "negative-binomial", new(0.5)
	baseline.Privacy.Tuning.Method, baseline.Privacy.Tuning.Repetitions = "baseline", "truncated-poisson"
	single.Privacy.Tuning, single.Hyperparameters.TunedLearningRate = nil, nil
	all := example()
	all.Privacy.Tuning.Space = Space{
		Search: "grid", Candidates: 12, LargestFinalRate: 0.95, Missed: 0.28,
		Parameters: []tuner.Parameter{
			{Name: "learning rate", Values: tuner.Values{List: []float64{0.01, 0.1}}},
			{Name: "sampling rate", Values: tuner.Values{List: []float64{0.0213, 0.0427}}},
			{Name: "epochs", Values: tuner.Values{List: []float64{10, 20, 40}}},
		},
		Runs: []tuner.Run{{SamplingRate: 0.0213, Steps: 469, NoiseMultiplier: 1.2345678912}, {SamplingRate: 0.0427, Steps: 937, NoiseMultiplier: 2.5}},
	}
	divided := example()
	divided.Privacy.Tuning.Space = all.Privacy.Tuning.Space
	divided.Privacy.Tuning.Space.Division = "noise"
	random := example()
	random.Hyperparameters.Optimizer, random.Hyperparameters.LearningRate, random.Hyperparameters.TunedLearningRate = "dp-adam", 0.003, new(0.003)
	random.Privacy.Tuning.Space = Space{
		Search: "random", Missed: 0.22,
		Parameters: []tuner.Parameter{{Name: "learning rate", Values: tuner.Between(1e-4, 1)}, {Name: "clipping norm", Values: tuner.Values{List: []float64{1, 3}}}},
		Line:       &Line{Slope: 0.15, Order: 12},
	}
	features := example()
	features.Model.Dataset, features.Model.Network, features.Model.Features = "cifar-10", "linear", "resnet20"
	for name, r := range map[string]Release{"features": features, "all": all, "divided": divided, "random-adam": random, "variant1": variant1, "variant2-insecure": variant2, "baseline": baseline, "single": single} {
		got, err := r.Statement()
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "statement-"+name+".md")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		r.Privacy.Epsilon = 1.23451
		if got, err := r.Statement(); err != nil || !strings.Contains(string(got), "ε = 1.2346*") {
			t.Errorf("%s: epsilon 1.23451 isn't rounded up: %s, %v", name, got, err)
		}
		if void := strings.Contains(string(got), "VOID"); void != r.Privacy.Insecure {
			t.Errorf("%s: void is %t", name, void)
		}
	}
}

// The guarantee of a single training covers no search.
func TestPrivacyJSONOfASingleTraining(t *testing.T) {
	dir, r := t.TempDir(), example()
	r.Privacy.Tuning, r.Hyperparameters.TunedLearningRate = nil, nil
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "privacy.json")); err != nil || !strings.Contains(string(text), `"covers_tuning": false`) {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "model.safetensors")); err != nil || !strings.Contains(string(text), `"0.97831"`) {
		t.Errorf("the score isn't beside the parameters, %v", err)
	}
}

func TestPrivacyJSON(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		dir := t.TempDir()
		r := example()
		r.Privacy.Insecure = insecure
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "privacy.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got["guarantee_holds"] != !insecure || got["epsilon"] != 3.99999999 || got["covers_tuning"] != true {
			t.Errorf("insecure %t: %s", insecure, text)
		}
		if tuning, _ := got["tuning"].(map[string]any); tuning["repetitions"] != "poisson" || tuning["mean_repetitions"] != 15.0 || tuning["repetitions_shape"] != nil {
			t.Errorf("tuning %v", tuning)
		}
		made, _ := got["made_by"].(map[string]any)
		if made["program"] != "dptrain" || made["version"] != build.Current().Version || made["time"] != nil {
			t.Errorf("made by %v", got["made_by"])
		}
		statement, err := os.ReadFile(filepath.Join(dir, "STATEMENT.md"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "\nMade by dptrain " + build.Current().Version; !strings.Contains(string(statement), want) {
			t.Errorf("the statement doesn't have %q", want)
		}
	}
}

// The text has a bounded length, and counts all columns.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		reasons, each, learned int
		want                   string
	}{
		{0, 9, 3, ""},
		{1, 1, 1, "c0 (r0); 1 of 2 columns is learned from"},
		{2, 5, 0, "c0, c1, c2, c3, c4 (r0), c0, c1, c2, c3, c4 (r1); 0 of 10 columns are learned from"},
		{1, 6, 2, "c0, c1, c2, c3 and 2 more (r0); 2 of 8 columns are learned from"},
		{8, 1, 2, "c0 (r0), c0 (r1), c0 (r2), c0 (r3), c0 (r4), c0 (r5), and 2 more for other reasons; 2 of 10 columns are learned from"},
	} {
		var l LeftOut
		for i := range c.each { // of each reason in turn
			for why := range c.reasons {
				l.Add(fmt.Sprint("c", i), fmt.Sprint("r", why))
			}
		}
		if got := l.Text(c.learned); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
