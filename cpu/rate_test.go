package cpu_test

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
)

// A job's Rate is the learning rate of each step: steps equal, to the bit, an optimizer's steps at these rates.
func TestRates(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	const samples = 60
	for _, o := range []engine.Optimizer{
		{Method: engine.SGD, LearningRate: 9}, // unused
		{Method: engine.Adam, LearningRate: 9, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8},
	} {
		rate := func(step int) float64 { return math.Pow(0.7, float64(step)) }
		job := engine.Job{
			Mechanism: engine.Mechanism{SamplingProbability: 0.3, NoiseMultiplier: 1.1, ClippingNorm: 0.5, ExpectedBatchSize: 18},
			Optimizer: o, Rate: rate, Key: random.InsecureKey(6), Initial: engine.LayoutOf(p).Join(p.Initial()),
		}
		loaded, err := cpu.New(cpu.Options{Workers: 2}).Load(p, enginetest.RandomData(p, samples, 5))
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		if !engine.Schedules(loaded) {
			t.Fatal("the engine takes no rates")
		}
		runs, err := loaded.Start(job)
		if err != nil {
			t.Fatal(err)
		}
		defer runs.Close()
		all := make([]int32, samples)
		for i := range all {
			all[i] = int32(i)
		}
		for step := range 4 {
			want := runs.State(0)
			sum, _, err := cpu.Inspect(runs).ClippedSum(0, job.Minibatch(step, all, nil))
			if err != nil {
				t.Fatal(err)
			}
			at := job
			at.Optimizer.LearningRate = rate(step + 1)
			enginetest.After(p, at, &want, sum, samples)
			if err := runs.Steps(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			for i, v := range runs.State(0).Params {
				if v != want.Params[i] {
					t.Fatalf("%s: step %d leads to %v at %d, want %v", o.Method, step+1, v, i, want.Params[i])
				}
			}
		}
	}
	job := engine.Job{Move: func(int, []float32, []float32) error { return nil }, Rate: func(int) float64 { return 1 },
		Mechanism: engine.Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1}, Initial: engine.LayoutOf(p).Join(p.Initial())}
	if err := job.Check(p, enginetest.RandomData(p, 1, 5)); err == nil {
		t.Error("a job has both Move and Rate")
	}
}
