// A classifier of token ids by attention: does a text name an animal before it names a colour?

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

const vocabulary, tokens, width, batch = 20, 8, 16, 4 // any batch: training forms its own

func main() {
	data, test := texts(8000, 1), texts(1000, 2)
	trainer := must(train.New(cpu.New(cpu.Options{}), network(), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 1.2, ClippingNorm: 1, Steps: 800, NominalSize: 8000},
		Optimizer: train.Adam(0.008), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.2f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() train.Model {
	g, m := G.NewGraph(), train.Model{}
	parameter := func(name string, shape ...int) *G.Node {
		n := G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name), G.WithInit(G.Gaussian(0, 0.3)))
		m.Parameters = append(m.Parameters, n)
		return n
	}
	ids := G.NewMatrix(g, tensor.Int, G.WithShape(batch, tokens), G.WithName("ids"))
	y := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, 2), G.WithName("y"))
	words := G.Must(G.ByIndices(parameter("words", vocabulary, width), G.Must(G.Reshape(ids, tensor.Shape{batch * tokens})), 0))
	x := G.Must(G.BroadcastAdd(G.Must(G.Reshape(words, tensor.Shape{batch, tokens, width})), parameter("places", 1, tokens, width), nil, []byte{0}))
	rows := G.Must(G.Reshape(x, tensor.Shape{batch * tokens, width}))
	head := func(name string) *G.Node {
		return G.Must(G.Reshape(G.Must(G.Mul(rows, parameter(name, width, width))), tensor.Shape{batch, tokens, width}))
	}
	scores := G.Must(G.BatchedMatMul(head("query"), head("key"), false, true)) // [batch, tokens, tokens]
	mixed := G.Must(G.Add(x, G.Must(G.BatchedMatMul(G.Must(G.SoftMax(scores)), head("value")))))
	m.Output = G.Must(G.Mul(G.Must(G.Mean(G.Must(G.Tanh(mixed)), 1)), parameter("out", width, 2)))
	m.Cost = G.Must(G.Neg(G.Must(G.Sum(G.Must(G.HadamardProd(y, G.Must(G.LogSoftMax(m.Output))))))))
	m.Inputs = G.Nodes{ids, y}
	return m
}
