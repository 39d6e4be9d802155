// A recurrent network over padded texts: is a review of a film good or bad?

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
)

const vocabulary, tokens, width = 28996, 96, 16

var steps = flag.Int("steps", 1500, "steps of training")

func main() {
	flag.Parse()
	data, test, err := must(datasets.Open(context.Background(), "imdb", datasets.Options{TextLength: tokens})).Classification()
	if err != nil {
		panic(err)
	}
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: 25000},
		Optimizer: train.Adam(0.02), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		ids, weights, y := b.Integers("ids", tokens), b.Input("weights", tokens), b.Input("y", 2)
		mask := b.Do(G.Gt(weights, G.NewConstant(float32(0)), true)) // 1 for tokens, 0 for padding
		states := b.LSTM("lstm", b.Embedding("words", ids, vocabulary, width), width, mask)
		column := b.Do(G.Reshape(weights, []int{batch, tokens, 1})) // 1/k for each of k tokens
		output = b.Linear("out", b.Do(G.Sum(b.Multiply(states, column), 1)), 2)
		return output, b.CrossEntropy(output, y, nil)
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
