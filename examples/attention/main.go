// A classifier of token ids by attention: does a text name an animal before it names a colour?

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

const vocabulary, tokens, width = 20, 8, 16

func main() {
	data, test := texts(8000, 1), texts(1000, 2)
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 1.2, ClippingNorm: 1, Steps: 800, NominalSize: 8000},
		Optimizer: train.Adam(0.008), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.2f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() (train.Model, error) {
	const batch = 4 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		ids, y := b.Integers("ids", tokens), b.Input("y", 2)
		words := b.Embedding("words", ids, vocabulary, width)
		x := block(b, "block", b.Add(words, b.Parameter("positions", models.Normal(1), 1, tokens, width)))
		output = b.Linear("out", b.Do(G.Mean(x, 1)), 2)
		return output, b.CrossEntropy(output, y, nil)
	})
}

// block adds a transformer block to x [batch, tokens, width].
func block(b *models.Builder, name string, x *G.Node) *G.Node {
	h := b.LayerNorm(name+".norm1", x)
	x = b.Add(x, b.Attention(name+".attention", h, 2, models.AttentionOptions{}))
	h = b.Linear(name+".up", b.LayerNorm(name+".norm2", x), 2*width)
	return b.Add(x, b.Linear(name+".down", b.Do(G.Rectify(h)), width))
}
