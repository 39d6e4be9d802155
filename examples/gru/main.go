// A recurrent network over sequences: which of two waves is it, after eight noisy steps?

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

const steps, width, batch = 8, 16, 4 // any batch: training forms its own

func main() {
	data, test := waves(4000, 1), waves(1000, 2)
	trainer := must(train.New(cpu.New(cpu.Options{}), network(), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 1, ClippingNorm: 1, Steps: 300, NominalSize: 4000},
		Optimizer: train.Adam(0.01), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.2f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

func network() train.Model {
	g, m := G.NewGraph(), train.Model{}
	parameter := func(name string, rows, columns int) *G.Node {
		n := G.NewMatrix(g, tensor.Float32, G.WithShape(rows, columns), G.WithName(name), G.WithInit(G.GlorotN(1)))
		m.Parameters = append(m.Parameters, n)
		return n
	}
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, steps), G.WithName("x"))
	y := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, 2), G.WithName("y"))
	type gate struct{ input, state, bias *G.Node }
	var gates [3]gate
	for i, name := range []string{"update", "reset", "candidate"} {
		gates[i] = gate{parameter(name+" input", 1, width), parameter(name+" state", width, width), parameter(name+" bias", 1, width)}
	}
	of := func(k gate, x, h *G.Node) *G.Node {
		return G.Must(G.BroadcastAdd(G.Must(G.Add(G.Must(G.Mul(x, k.input)), G.Must(G.Mul(h, k.state)))), k.bias, nil, []byte{0}))
	}
	column := func(t int) *G.Node { return G.Must(G.Reshape(G.Must(G.Slice(x, nil, G.S(t))), tensor.Shape{batch, 1})) }
	h := G.Must(G.Tanh(G.Must(G.Mul(column(0), parameter("first", 1, width)))))
	for t := 1; t < steps; t++ {
		now := column(t)
		update, reset := G.Must(G.Sigmoid(of(gates[0], now, h))), G.Must(G.Sigmoid(of(gates[1], now, h)))
		candidate := G.Must(G.Tanh(of(gates[2], now, G.Must(G.HadamardProd(reset, h)))))
		h = G.Must(G.Add(h, G.Must(G.HadamardProd(update, G.Must(G.Sub(candidate, h))))))
	}
	m.Output = G.Must(G.Mul(h, parameter("out", width, 2)))
	m.Cost = G.Must(G.Neg(G.Must(G.Sum(G.Must(G.HadamardProd(y, G.Must(G.LogSoftMax(m.Output))))))))
	m.Inputs = G.Nodes{x, y}
	return m
}
