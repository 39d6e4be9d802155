package cpu_test

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
)

// A parameter of many thousand values gets the noise of its coordinates, for any division of its update.
func TestNoiseOfALargeParameter(t *testing.T) {
	p := enginetest.MLP(t, 4097, 3)
	for _, workers := range []int{1, 3} {
		l, err := cpu.New(cpu.Options{Workers: workers}).Load(p, &engine.Data{Columns: engine.Floats(nil, nil)})
		if err != nil {
			t.Fatal(err)
		}
		layout := engine.LayoutOf(p)
		j := engine.Job{Key: random.InsecureKey(5), Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 1},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: make([]float32, layout.Size)}
		runs, err := l.Start(j)
		if err != nil {
			t.Fatal(err)
		}
		if err := runs.Steps(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		got, grid := runs.State(0).Params, j.Mechanism.Grid(0)
		for i, from := range layout.Offsets {
			z := make([]float64, layout.Lengths[i])
			j.Normals(0, from, z)
			grid.Release(make([]float64, len(z)), z, 1, 1)
			for k, v := range z {
				if want := float32(-v); got[from+k] != want {
					t.Fatalf("%d workers: parameter %d[%d] moved to %v, want %v", workers, i, k, got[from+k], want)
				}
			}
		}
	}
}
