// A causal language model of film reviews, by one transformer block. Its table of words is also its last layer.

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
)

const vocabulary, tokens, width = 2048, 32, 64

var steps = flag.Int("steps", 600, "steps of training")

func main() {
	flag.Parse()
	data, test := reviews()
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.7, ClippingNorm: 1, Steps: *steps, NominalSize: 25000},
		Optimizer: train.Adam(0.003), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		ids, next, mask := b.Integers("ids", tokens), b.Integers("next", tokens), b.Input("mask", tokens)
		table := b.Parameter("words", models.Normal(0.1), vocabulary, width)
		x := b.Add(b.Lookup(table, ids), b.Parameter("positions", models.Normal(0.1), 1, tokens, width))
		x = b.LayerNorm("norm", block(b, "block", x))
		x = b.Do(G.Mul(b.Do(G.Reshape(x, []int{batch * tokens, width})), b.Do(G.Transpose(table))))
		output = b.Do(G.Reshape(x, []int{batch, tokens, vocabulary}))
		return output, b.CrossEntropy(output, next, mask)
	})
}

// block adds a transformer block to x [batch, tokens, width].
func block(b *models.Builder, name string, x *G.Node) *G.Node {
	h := b.LayerNorm(name+".norm1", x)
	x = b.Add(x, b.Attention(name+".attention", h, 4, models.AttentionOptions{Causal: true}))
	h = b.Linear(name+".up", b.LayerNorm(name+".norm2", x), 2*width)
	return b.Add(x, b.Linear(name+".down", b.Do(G.Rectify(h)), width))
}
