package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
)

// BenchmarkStep measures whole private steps, with noise and update, on synthetic samples of the paper's shapes: 60,000
// at the paper's sampling rate for the final run, 6,000 for a trial.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"cnn", "mlp"} {
		n, err := models.New(name, []int{1, 28, 28}, 10, models.Options{})
		if err != nil {
			b.Fatal(err)
		}
		p, err := compile.Compile(compile.Source{Inputs: n.Inputs, Params: n.Parameters, Constants: n.Constants, Output: n.Output, Cost: n.Cost})
		if err != nil {
			b.Fatal(err)
		}
		for _, samples := range []int{60000, 6000} {
			data := enginetest.RandomData(p, samples, 1)
			for _, workers := range []int{1, 2} {
				expected := 0.0213 * float64(samples)
				b.Run(fmt.Sprintf("%s/batch=%.0f/workers=%d", name, expected, workers), func(b *testing.B) {
					loaded, err := cpu.New(cpu.Options{Workers: workers}).Load(p, data)
					if err != nil {
						b.Fatal(err)
					}
					runs, err := loaded.Start(engine.Job{
						Mechanism: engine.Mechanism{SamplingProbability: 0.0213, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: expected},
						Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.01},
						Initial:   engine.LayoutOf(p).Join(n.Initial(rand.NewPCG(1, 2))),
					})
					if err != nil {
						b.Fatal(err)
					}
					defer runs.Close()
					for b.Loop() {
						if err := runs.Steps(context.Background(), 1); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(expected*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
				})
			}
		}
	}
}
