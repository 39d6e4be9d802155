package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// standardNormal stands for the number of inputs of one unit where there is none: initial values are drawn from N(0, 1).
const standardNormal = 0

// param makes a parameter without values. fan is the number of inputs of one unit, from which its initial values are drawn.
func (b *builder) param(name string, fan int, shape ...int) *gorgonia.Node {
	w := gorgonia.NewTensor(b.graph, b.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
	b.params = append(b.params, w)
	b.fans = append(b.fans, fan)
	return w
}

// Initial draws initial values for every parameter, in the order of Params, from U(−1/√fan, 1/√fan), fan being the number
// of inputs of one unit: PyTorch's default for linear and convolutional layers, weights and biases alike (Kaiming
// uniform with a = √5), which the paper's models were trained from. Embeddings are drawn from N(0, 1), as PyTorch's are.
func (n Network) Initial(src rand.Source) [][]float32 {
	draw := rand.New(src)
	out := make([][]float32, len(n.Params))
	for i, p := range n.Params {
		value := draw.NormFloat64
		if fan := n.fans[i]; fan != standardNormal {
			bound := 1 / math.Sqrt(float64(fan))
			value = func() float64 { return (2*draw.Float64() - 1) * bound }
		}
		out[i] = make([]float32, p.Shape().TotalSize())
		for k := range out[i] {
			out[i][k] = float32(value())
		}
	}
	return out
}

// Bind gives the graph's parameters values, for use with Gorgonia's own machines.
func (n Network) Bind(values [][]float32) error {
	for i, p := range n.Params {
		var backing any = append([]float32(nil), values[i]...)
		if p.Dtype() == tensor.Float64 {
			wide := make([]float64, len(values[i]))
			for k, v := range values[i] {
				wide[k] = float64(v)
			}
			backing = wide
		}
		if err := gorgonia.Let(p, tensor.New(tensor.WithShape(p.Shape()...), tensor.WithBacking(backing))); err != nil {
			return fmt.Errorf("bind parameter %q: %w", p.Name(), err)
		}
	}
	return nil
}
