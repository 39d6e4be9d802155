// A generative adversarial network of small digits: one rule moves a critic and a generator.

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

const side, pixels, classes, noise, hidden = 7, 49, 10, 8, 64

var steps = flag.Int("steps", 2000, "steps of training")

func main() {
	flag.Parse()
	data, test := digits()
	o := train.OptimizerOf(Adversarial{Limit: 0.2}, 0.003)
	o.Average = 0.99
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: 60000},
		Optimizer: o, Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

// network returns digits made of classes and noise, and what the critic says of them less what it says of real ones.
func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		x, y, z := b.Input("x", pixels), b.Input("y", classes), b.Input("z", noise)
		h := b.Do(G.Rectify(b.Linear("generator.1", b.Do(G.Concat(1, z, y)), hidden)))
		h = b.Do(G.Rectify(b.Linear("generator.2", h, hidden)))
		output = b.Do(G.Sigmoid(b.Linear("generator.3", h, pixels)))
		both := b.Do(G.Reshape(b.Do(G.Concat(1, x, y, output, y)), []int{2 * batch, pixels + classes}))
		h = b.Do(G.LeakyRelu(b.Linear("critic.1", both, hidden), 0.2))
		says := b.Do(G.Reshape(b.Linear("critic.2", h, 1), []int{batch, 2})) // of the real digit, of the made one
		return output, b.Do(G.Sum(b.Do(G.Sub(b.Do(G.Slice(says, nil, G.S(1))), b.Do(G.Slice(says, nil, G.S(0)))))))
	})
}
