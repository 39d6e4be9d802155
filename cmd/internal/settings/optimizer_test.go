package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTraining(t *testing.T) {
	rate := 0.1 // of the preset in the file
	file := "training: {optimizer: nesterov, momentum: 0.5, weight_decay: 0.1, schedule: cosine, average: 1, learning_rate: 0.1}"
	for _, c := range []struct {
		name, file string
		sets       []Override
		want       Training
	}{
		{"nothing", "training: {learning_rate: 0.1}", nil, Training{Optimizer: "dp-sgd"}},
		{"short names", "training: {optimizer: sgd, learning_rate: 0.1}", nil, Training{Optimizer: "dp-sgd"}},
		{"adam", "training: {optimizer: adam, learning_rate: 0.1}", nil, Training{Optimizer: "dp-adam"}},
		{"defaults", "training: {optimizer: momentum, learning_rate: 0.1}", nil, Training{Optimizer: "dp-momentum", Momentum: new(0.9)}},
		{"of adamw", "training: {optimizer: dp-adamw, learning_rate: 0.1}", nil, Training{Optimizer: "dp-adamw", WeightDecay: new(0.01)}},
		{"none", "training: {optimizer: momentum, momentum: 0, weight_decay: 0, accumulate: 1, schedule: constant, learning_rate: 0.1}", nil,
			Training{Optimizer: "dp-momentum", Momentum: new(0.0), WeightDecay: new(0.0)}},
		{"a file", file, nil, Training{Optimizer: "dp-nesterov", Momentum: new(0.5), WeightDecay: new(0.1), Schedule: "cosine", Average: 1}},
		{"a flag over it", file, sets("training.momentum=0.7", "training.warmup=0.2"),
			Training{Optimizer: "dp-nesterov", Momentum: new(0.7), WeightDecay: new(0.1), Schedule: "cosine", Average: 1, Warmup: 0.2}},
		{"the same optimizer", file, sets("training.optimizer=nesterov", "training.schedule=constant"),
			Training{Optimizer: "dp-nesterov", Momentum: new(0.5), WeightDecay: new(0.1), Average: 1}},
		{"another optimizer", file, sets("training.optimizer=sgd", "training.average=0"), Training{Optimizer: "dp-sgd", Schedule: "cosine"}},
		{"another momentum", file, sets("training.optimizer=momentum"), Training{Optimizer: "dp-momentum", Momentum: new(0.9), Schedule: "cosine", Average: 1}},
		{"and its own", file, sets("training.optimizer=adamw", "training.weight_decay=0.5", "training.accumulate=3"),
			Training{Optimizer: "dp-adamw", WeightDecay: new(0.5), Schedule: "cosine", Average: 1, Accumulate: 3}},
	} {
		e, err := Resolve(File{Text: []byte(c.file)}, c.sets)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		c.want.LearningRate = rate
		if diff := cmp.Diff(c.want, e.Training); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		written, err := e.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Resolve(File{Text: written}, nil)
		if diff := cmp.Diff(e, again); err != nil || diff != "" {
			t.Errorf("%s: written and read again %v, %s", c.name, err, diff)
		}
	}
}

func TestTrainingRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"training.optimizer=momentun":  `got "momentun"`,
		"training.optimizer=dp":        `got "dp"`,
		"training.optimizer=dp-dp-sgd": `got "dp-dp-sgd"`,
		"training.momentum=0.9":        "training.momentum: dp-sgd has none; choose the optimizer momentum or nesterov",
		"training.weight_decay=-1":     "training.weight_decay: must be a number, 0 or above",
		"training.schedule=cosin":      "training.schedule: must be one of constant, linear, cosine",
		"training.warmup=1":            "training.warmup: must be a share of the steps, at least 0 and below 1",
		"training.warmup=-0.1":         "training.warmup: must be a share",
		"training.accumulate=-1":       "training.accumulate: must be 0 or a number of steps",
		"training.accumulate=1.5":      "training.accumulate: want a whole number",
		"training.average=1.01":        "training.average: must be 0 for none",
		"training.average=uniform":     "training.average: want a number",
	} {
		key, value, _ := strings.Cut(given, "=")
		if _, err := Resolve(File{}, []Override{{Key: key, Value: value}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", given, err, want)
		}
	}
	for _, c := range []struct{ given, want string }{
		{"training: {optimizer: momentum, momentum: 1}", "training.momentum: must be at least 0 and below 1"},
		{"training: {optimizer: nesterov, momentum: -0.1}", "training.momentum: must be"},
		{"training: {optimizer: adam, weight_decay: 0.1}", "training.weight_decay: dp-adam has none; choose the optimizer adamw"},
	} {
		if _, err := Resolve(File{Text: []byte(c.given)}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.given, err, c.want)
		}
	}
}
