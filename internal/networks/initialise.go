package networks

import (
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
)

// In place of a fan, standardNormal marks a parameter whose initial values are drawn from N(0, 1), and zeros one that
// begins at 0.
const (
	standardNormal = 0
	zeros          = -1
)

// param adds a parameter without values. fan is the number of inputs of one unit, which decides its initial values.
func (b *builder) param(name string, fan int, shape ...int) *gorgonia.Node {
	w := gorgonia.NewTensor(b.graph, b.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
	b.params = append(b.params, w)
	b.fans = append(b.fans, fan)
	return w
}

// initial returns a function that draws initial values for all parameters, from U(−1/√fan, 1/√fan) where fan is the
// number of inputs of one unit. That is PyTorch's default for weights and biases of linear and convolutional layers
// (Kaiming uniform with a = √5), from which the paper's models were trained. It draws embeddings from N(0, 1), as
// PyTorch does. A linear model begins at 0: its cost is convex, so a random start adds noise and nothing else.
func initial(params gorgonia.Nodes, fans []int) func(rand.Source) [][]float32 {
	sizes := make([]int, len(params))
	for i, p := range params {
		sizes[i] = p.Shape().TotalSize()
	}
	return func(src rand.Source) [][]float32 {
		draw := rand.New(src)
		out := make([][]float32, len(sizes))
		for i, size := range sizes {
			value := draw.NormFloat64
			if fan := fans[i]; fan == zeros {
				value = func() float64 { return 0 }
			} else if fan != standardNormal {
				bound := 1 / math.Sqrt(float64(fan))
				value = func() float64 { return (2*draw.Float64() - 1) * bound }
			}
			out[i] = make([]float32, size)
			for k := range out[i] {
				out[i][k] = float32(value())
			}
		}
		return out
	}
}
