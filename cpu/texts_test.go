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
	"github.com/dptrain/dptrain/train"
)

// imdb builds the model of Opacus's IMDB example.
func imdb(batch int) (train.Model, error) {
	return models.EmbeddingClassifier(models.Options{Batch: batch}, 28996, 256, 16, 16, 2)
}

func TestTexts(t *testing.T) {
	build := func(batch int) (compile.Source, error) {
		n, err := imdb(batch)
		if err != nil {
			return compile.Source{}, err
		}
		return bound(n)
	}
	src, err := build(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	suite(compiled).CheckGraph(t, build, 0.02, enginetest.Texts(p, 7, 3))
}

// BenchmarkTexts measures whole private steps of the IMDB example's model on 25,000 synthetic texts, with the expected
// batches of trials, many of which advance side by side, and of the final run. Steps and samples are totals over all
// runs.
func BenchmarkTexts(b *testing.B) {
	n, err := imdb(1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := compile.Compile(compile.Source{Inputs: n.Inputs, Params: n.Parameters, Constants: n.Constants, Output: n.Output, Cost: n.Cost})
	if err != nil {
		b.Fatal(err)
	}
	const samples = 25000
	data := enginetest.Texts(p, samples, 1)
	initial := engine.LayoutOf(p).Join(n.Initial(rand.NewPCG(1, 2)))
	for _, o := range []engine.Optimizer{
		{Method: engine.SGD, LearningRate: 0.01},
		{Method: engine.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8},
	} {
		for _, c := range []struct {
			expected      float64
			workers, runs int
		}{{64, 1, 1}, {64, 2, 16}, {576, 1, 1}, {576, 2, 1}} {
			b.Run(fmt.Sprintf("%s/batch=%.0f/workers=%d/runs=%d", o.Method, c.expected, c.workers, c.runs), func(b *testing.B) {
				loaded, err := cpu.New(cpu.Options{Workers: c.workers}).Load(p, data)
				if err != nil {
					b.Fatal(err)
				}
				jobs, steps := make([]engine.Job, c.runs), make([]int, c.runs)
				for i := range jobs {
					jobs[i] = engine.Job{
						Mechanism: engine.Mechanism{SamplingProbability: c.expected / samples, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: c.expected},
						Optimizer: o, Initial: initial, Trial: uint32(i),
					}
					steps[i] = 10
				}
				runs, err := loaded.Start(jobs...)
				if err != nil {
					b.Fatal(err)
				}
				defer runs.Close()
				for b.Loop() {
					if err := runs.Steps(context.Background(), steps...); err != nil {
						b.Fatal(err)
					}
				}
				taken := float64(10*c.runs*b.N) / b.Elapsed().Seconds()
				b.ReportMetric(taken, "steps/s")
				b.ReportMetric(c.expected*taken, "samples/s")
			})
		}
	}
}
