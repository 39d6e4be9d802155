package cpu_test

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
)

// Memory is large enough for a prediction that needs more than gradients.
func TestPredictionMayNeedMoreRoomThanGradients(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, w, v := g.In("x", 2), g.Param("w", 2, 1), g.Param("v", 2, 3000)
	out := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, v))))
	src := compile.Source{Inputs: gorgonia.Nodes{x}, Params: gorgonia.Nodes{w, v}, Output: out, Cost: g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(x, w))))}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	gorgonia.WithName("out")(out)
	p.Output.Name = "out"
	data := enginetest.RandomData(p, 70, 1)
	l, err := cpu.New(cpu.Options{}).Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := l.Start(engine.Job{Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: 1, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: make([]float32, engine.LayoutOf(p).Size)})
	if err != nil {
		t.Fatal(err)
	}
	y, err := runs.Predict(context.Background(), data, 0)
	if err != nil || len(y[0]) != 70*3000 {
		t.Fatal(err)
	}
}
