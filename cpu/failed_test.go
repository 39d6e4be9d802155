package cpu

import (
	"context"
	"errors"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

type failsOnce struct {
	workspace
	left *int
}

func (f failsOnce) clipped(b *bound, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error {
	if *f.left > 0 {
		*f.left--
		return errors.New("out of luck")
	}
	return f.workspace.clipped(b, data, samples, clip, sum, squared)
}

// A run that failed, for any reason, takes no step until it is restored.
func TestAFailedRunStaysWhereItIs(t *testing.T) {
	p := enginetest.MLP(t, 6, 3)
	left := 1
	e := New(Options{Workers: 1}).(*cpuEngine)
	e.workspace = func(l *lowered) workspace { return failsOnce{l.workspace(), &left} }
	loaded, err := e.Load(p, &engine.Data{Samples: 5, Columns: engine.Floats(make([]float32, 30), make([]float32, 15))})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 5},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: make([]float32, engine.LayoutOf(p).Size),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := runs.Steps(context.Background(), 1); err == nil {
		t.Fatal("it didn't fail")
	}
	if err := runs.Steps(context.Background(), 1); err == nil {
		t.Errorf("it went on to step %d without being restored", runs.Done()[0])
	}
}
