package train

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
)

func TestOptimizerDefaults(t *testing.T) {
	// Kingma and Ba, "Adam: a method for stochastic optimization" (2015), Algorithm 1.
	want := engine.Optimizer{Method: engine.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	if got := Adam(0.01); got != want {
		t.Errorf("Adam: %+v, want %+v", got, want)
	}
	for _, o := range []Optimizer{SGD(0.5), Adam(0.01)} {
		if err := ValidateOptimizer(o); err != nil {
			t.Error(err)
		}
	}
}

func TestOptimizerRefuses(t *testing.T) {
	adam := func(change func(*Optimizer)) Optimizer {
		o := Adam(0.01)
		change(&o)
		return o
	}
	for _, o := range []Optimizer{
		{}, SGD(0), SGD(-1), SGD(math.NaN()), SGD(math.Inf(1)),
		{Method: "sgd", LearningRate: 1},
		adam(func(o *Optimizer) { o.Beta1 = 1 }),
		adam(func(o *Optimizer) { o.Beta2 = -0.1 }),
		adam(func(o *Optimizer) { o.Beta2 = math.NaN() }),
		adam(func(o *Optimizer) { o.Epsilon = 0 }),
	} {
		if ValidateOptimizer(o) == nil {
			t.Errorf("%+v passes", o)
		}
	}
}
