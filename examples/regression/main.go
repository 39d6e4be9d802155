// Regression with a graph of your own, AdamW, a learning rate that warms up and falls, and an average of models.

package main

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func main() {
	data, test := waves(4000, 1), waves(500, 2)
	o := train.AdamW(0.02, 0.001)
	o.Schedule = train.Warmup(0.1, train.Cosine(0))
	o.Average = 0.99
	privacy := train.Privacy{SamplingRate: 0.1, NoiseMultiplier: 1.5, ClippingNorm: 1, Steps: 300, NominalSize: 4000}
	trainer := must(train.New(cpu.New(cpu.Options{}), network(2, 32), data.Data, train.Settings{Privacy: privacy, Optimizer: o, Key: train.NewKey()}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("R² %.2f by %s, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), o, guarantee.Epsilon, guarantee.Delta)
}

// network returns a perceptron with one hidden layer, normalised, and the squared error as its cost.
func network(features, hidden int) train.Model {
	const batch = 8 // any: training forms its own batches
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, features), G.WithName("x"))
	y := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, 1), G.WithName("y"))
	w := G.NewMatrix(g, tensor.Float32, G.WithShape(features, hidden), G.WithName("w"), G.WithInit(G.GlorotN(1)))
	b := G.NewMatrix(g, tensor.Float32, G.WithShape(1, hidden), G.WithName("b"), G.WithInit(G.Zeroes()))
	v := G.NewMatrix(g, tensor.Float32, G.WithShape(hidden, 1), G.WithName("v"), G.WithInit(G.GlorotN(1)))
	h := G.Must(G.BroadcastAdd(G.Must(G.Mul(x, w)), b, nil, []byte{0}))
	output := G.Must(G.Mul(G.Must(G.Tanh(h)), v))
	cost := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(output, y))))))
	return train.Model{Inputs: G.Nodes{x, y}, Parameters: G.Nodes{w, b, v}, Output: output, Cost: cost}
}
