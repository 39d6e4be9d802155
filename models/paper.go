package models

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CNN builds the convolutional network of Opacus's MNIST example for 28×28 grey images and ten classes:
// convolution 1→16 (8×8, stride 2, padding 3), max-pool (2, stride 1), convolution 16→32 (4×4, stride 2),
// max-pool (2, stride 1), 512→32, 32→10. It has 26,010 parameters. The input is x [batch, 1, 28, 28].
func CNN(o Options) (Network, error) {
	b := newBuilder(o)
	input := b.input("x", 1, 28, 28)
	pool := func(x *gorgonia.Node) *gorgonia.Node {
		return b.do("max-pool", func() (*gorgonia.Node, error) {
			return gorgonia.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1})
		})
	}
	x := pool(b.activate(b.conv("conv1", input, 1, 16, 8, 2, 3)))
	x = pool(b.activate(b.conv("conv2", x, 16, 32, 4, 2, 0)))
	x = b.do("flatten", func() (*gorgonia.Node, error) { return gorgonia.Reshape(x, tensor.Shape{b.opts.Batch, 512}) })
	x = b.activate(b.linear("fc1", x, 512, 32))
	return b.network(input, b.linear("fc2", x, 32, 10), 10)
}

// MLP builds a fully connected network with the given widths: inputs, hidden layers, classes. The
// paper's FashionMNIST model is 784, 120, 120, 10 with 109,930 parameters. The input is x [batch, widths[0]].
func MLP(o Options, widths ...int) (Network, error) {
	if len(widths) < 2 {
		return Network{}, fmt.Errorf("build graph: an MLP needs inputs and classes, got widths %v", widths)
	}
	b := newBuilder(o)
	input := b.input("x", widths[0])
	x := input
	for i := 1; i < len(widths)-1; i++ {
		x = b.activate(b.linear(fmt.Sprintf("fc%d", i), x, widths[i-1], widths[i]))
	}
	last := len(widths) - 1
	return b.network(input, b.linear(fmt.Sprintf("fc%d", last), x, widths[last-1], widths[last]), widths[last])
}
