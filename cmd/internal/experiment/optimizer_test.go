package experiment

import (
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/settings"
)

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
