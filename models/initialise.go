package models

import (
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// uniform makes a parameter with values drawn from U(−1/√fan, 1/√fan), fan being the number of inputs
// of one unit: PyTorch's default for linear and convolutional layers, weights and biases alike (Kaiming
// uniform with a = √5), which the paper's models were trained from.
func (b *builder) uniform(name string, fan int, shape ...int) *gorgonia.Node {
	bound := 1 / math.Sqrt(float64(fan))
	n := tensor.Shape(shape).TotalSize()
	values := make([]float64, n)
	for i := range values {
		// One draw a value, rounded once, so that both precisions start from the same model.
		values[i] = float64(float32((2*b.random.Float64() - 1) * bound))
	}
	var backing any = values
	if !b.opts.Double {
		narrow := make([]float32, n)
		for i, v := range values {
			narrow[i] = float32(v)
		}
		backing = narrow
	}
	w := gorgonia.NewTensor(b.graph, b.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))))
	b.params = append(b.params, w)
	return w
}
