// A generative adversarial network: one rule moves a critic and a generator of small digits. A classifier learns from
// these alone.

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
	gan, o := must(models.Build(2, network)), train.OptimizerOf(Adversarial{Limit: 0.2}, 0.003)
	o.Average = 0.99
	result, _ := fit(gan, data, nil, o, train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: 60000})
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))

	// What follows has the released generator alone. So it costs nothing, and needs no noise.
	classifier := must(models.New("mlp:100", []int{pixels}, classes, models.Options{}))
	_, accuracy := fit(classifier, generate(gan, result, 20000), test, train.Adam(0.001), train.Privacy{SamplingRate: 0.02, ClippingNorm: 1, Steps: 600, NominalSize: 20000})
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", accuracy, guarantee.Epsilon, guarantee.Delta)
}

// fit trains a model, and returns its score too if there is a test set.
func fit(model train.Model, data *train.Data, test *train.Classification, o train.Optimizer, p train.Privacy) (result train.Result, score float64) {
	trainer := must(train.New(cpu.New(cpu.Options{}), model, data, train.Settings{Privacy: p, Optimizer: o, Key: train.NewKey()}))
	defer trainer.Close()
	result = must(trainer.Train(context.Background(), nil))
	if test != nil {
		score = must(trainer.Score(context.Background(), test))
	}
	return result, score
}

// network returns digits made of classes and noise, and what the critic says of them less what it says of real ones.
func network(b *models.Builder) (output, cost *G.Node) {
	x, y, z := b.Input("x", pixels), b.Input("y", classes), b.Input("z", noise)
	h := b.Do(G.Rectify(b.Linear("generator.1", b.Do(G.Concat(1, z, y)), hidden)))
	h = b.Do(G.Rectify(b.Linear("generator.2", h, hidden)))
	output = b.Do(G.Sigmoid(b.Linear("generator.3", h, pixels)))
	both := b.Do(G.Reshape(b.Do(G.Concat(1, x, y, output, y)), []int{2 * x.Shape()[0], pixels + classes}))
	h = b.Do(G.LeakyRelu(b.Linear("critic.1", both, hidden), 0.2))
	says := b.Do(G.Reshape(b.Linear("critic.2", h, 1), []int{x.Shape()[0], 2})) // of the real one, of the other
	return output, b.Do(G.Sum(b.Do(G.Sub(b.Do(G.Slice(says, nil, G.S(1))), b.Do(G.Slice(says, nil, G.S(0)))))))
}
