package cpu_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// started returns runs of a program over data by an engine, one for each clipping norm.
func started(t *testing.T, e engine.Engine, p *compile.Program, data *engine.Data, clips ...float64) engine.Runs {
	t.Helper()
	loaded, err := e.Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []engine.Job
	for _, clip := range clips {
		jobs = append(jobs, engine.Job{
			Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: clip, ExpectedBatchSize: 1},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: engine.LayoutOf(p).Join(p.Initial()),
		})
	}
	runs, err := loaded.Start(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// A worker serves runs of any clipping norms, one after another, each on its own grid.
func TestWorkersServeRunsOfAnyClippingNorm(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	data := enginetest.RandomData(p, 700, 3)
	clips := []float64{1e-6, 1e6, 0.5}
	together := started(t, cpu.New(cpu.Options{Workers: 1}), p, data, clips...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		run, n := r.IntN(len(clips)), 1+r.IntN(700)
		var batch []int32
		for _, i := range r.Perm(700)[:n] {
			batch = append(batch, int32(i))
		}
		slices.Sort(batch)
		got, _, err := cpu.Inspect(together).ClippedSum(run, batch)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := cpu.Inspect(started(t, cpu.New(cpu.Options{Workers: 1}), p, data, clips[run])).ClippedSum(0, batch)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a run of clipping norm %v has another sum of %d samples beside others", clips[run], n)
		}
	}
}
