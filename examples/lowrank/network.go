package main

import (
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
)

const inputs, hidden, classes, rank = 784, 256, 10, 8

// network returns a perceptron. If there are public parameters, its hidden layers are theirs, with updates.
func network(public []train.Parameter) (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		x, y := b.Input("x", 1, 28, 28), b.Input("y", classes)
		h := b.Do(G.Reshape(x, []int{batch, inputs}))
		for i, name := range []string{"fc1", "fc2"} {
			if public == nil {
				h = b.Do(G.Tanh(b.Linear(name, h, hidden)))
			} else {
				h = b.Do(G.Tanh(adapted(b, name, h, public[2*i], public[2*i+1])))
			}
		}
		output = b.Linear("out", h, classes)
		return output, b.CrossEntropy(output, y, nil)
	})
}

// adapted returns x·W + x·A·B + the bias. B is 0 at first, so training begins with the public layer.
func adapted(b *models.Builder, name string, x *G.Node, weight, bias train.Parameter) *G.Node {
	down := b.Parameter(name+".A", models.Normal(1.0/rank), weight.Shape[0], rank)
	up := b.Parameter(name+".B", models.Value(0), rank, weight.Shape[1])
	frozen := b.Add(b.Do(G.Mul(x, b.Constant(weight.Values, weight.Shape...))), b.Constant(bias.Values, bias.Shape...))
	return b.Add(frozen, b.Do(G.Mul(b.Do(G.Mul(x, down)), up)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
