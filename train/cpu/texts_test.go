package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu"
	"github.com/dptrain/dptrain/train/engine"
	"github.com/dptrain/dptrain/train/enginetest"
)

// imdb builds the model of Opacus's IMDB example.
func imdb(batch int) (models.Network, error) {
	return models.EmbeddingClassifier(models.Options{Batch: batch}, 28996, 256, 16, 16, 2)
}

func TestTexts(t *testing.T) {
	build := func(batch int) (compile.Source, error) {
		n, err := imdb(batch)
		if err != nil {
			return compile.Source{}, err
		}
		return compile.Source(n.Graph), n.Bind(n.Initial(rand.NewPCG(1, 2)))
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

// BenchmarkTexts takes whole steps of private training of the IMDB example's model on 25,000 made-up texts, with the
// expected batches of a trial and of the final run.
func BenchmarkTexts(b *testing.B) {
	n, err := imdb(1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := compile.Compile(compile.Source(n.Graph))
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
		for _, expected := range []float64{64, 576} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/batch=%.0f/workers=%d", o.Method, expected, workers), func(b *testing.B) {
					loaded, err := cpu.New(cpu.Options{Workers: workers}).Load(p, data)
					if err != nil {
						b.Fatal(err)
					}
					runs, err := loaded.Start(engine.Job{
						Mechanism: engine.Mechanism{SamplingProbability: expected / samples, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: expected},
						Optimizer: o,
						Initial:   initial,
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
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
					b.ReportMetric(expected*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
				})
			}
		}
	}
}
