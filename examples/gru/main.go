// A recurrent network over sequences: which of two waves is it, after eight noisy steps?

package main

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
)

const steps, width = 8, 16

func main() {
	data, test := waves(4000, 1), waves(1000, 2)
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 1, ClippingNorm: 1, Steps: 300, NominalSize: 4000},
		Optimizer: train.Adam(0.01), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.2f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() (train.Model, error) {
	const batch = 4 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		x, y := b.Input("x", steps, 1), b.Input("y", 2)
		states := b.GRU("gru", x, width, nil)
		last := b.Do(G.Slice(states, nil, G.S(steps-1))) // [batch, width]
		output = b.Linear("out", last, 2)
		return output, b.CrossEntropy(output, y, nil)
	})
}
