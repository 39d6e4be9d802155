package networks

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The layers of the CNN: kernel, stride, padding and output channels of its convolutions.
const (
	conv1Kernel, conv1Stride, conv1Pad, conv1Channels = 8, 2, 3, 16
	conv2Kernel, conv2Stride, conv2Pad, conv2Channels = 4, 2, 0, 32
	poolKernel, poolStride                            = 2, 1
	cnnHidden                                         = 32
)

// CNN builds a network for images: see package models.
func CNN(o Options, shape []int, outputs int) (Model, error) {
	return newBuilder(o).build(func(b *builder) (output, cost *gorgonia.Node) { return b.cnn(shape, outputs) })
}

func (b *builder) cnn(shape []int, outputs int) (output, cost *gorgonia.Node) {
	image := slices.Clone(shape)
	if len(image) == 2 {
		image = []int{1, shape[0], shape[1]}
	}
	Require(len(image) == 3, "cnn takes images of shape [channels height width] or [height width], and a sample has the shape %v; take linear or mlp", shape)
	height, width := cnnSize(image[1]), cnnSize(image[2])
	Require(min(height, width) >= 1, "cnn needs images of 14 by 14 or more, channels first, and a sample has the shape %v; take linear or mlp", shape)
	pool := func(x *gorgonia.Node) *gorgonia.Node {
		b.layer(Layer{Kind: KindMaxPool2d, Kernel: poolKernel, Stride: poolStride})
		return Do(gorgonia.MaxPool2D(x, tensor.Shape{poolKernel, poolKernel}, []int{0, 0}, []int{poolStride, poolStride}))
	}
	x := b.conv("conv1", b.input("x", image...), image[0], conv1Channels, conv1Kernel, conv1Stride, conv1Pad)
	x = b.conv("conv2", pool(b.activate(x)), conv1Channels, conv2Channels, conv2Kernel, conv2Stride, conv2Pad)
	x = pool(b.activate(x))
	flat := conv2Channels * height * width
	b.layer(Layer{Kind: KindFlatten})
	x = b.activate(b.linear("fc1", Do(gorgonia.Reshape(x, tensor.Shape{b.Batch, flat})), flat, cnnHidden))
	return b.trained(b.linear("fc2", x, cnnHidden, outputs), outputs)
}

// cnnSize returns the side of the last max-pool's output for a side of the image; 0 or less if the image is too small.
func cnnSize(side int) int {
	window := func(n, kernel, stride, pad int) int {
		if n += 2*pad - kernel; n < 0 {
			return 0
		}
		return n/stride + 1
	}
	side = window(side, conv1Kernel, conv1Stride, conv1Pad)
	side = window(side, poolKernel, poolStride, 0)
	side = window(side, conv2Kernel, conv2Stride, conv2Pad)
	return window(side, poolKernel, poolStride, 0)
}

// MLP builds a fully connected network: see package models.
func MLP(o Options, widths ...int) (Model, error) {
	return newBuilder(o).build(func(b *builder) (output, cost *gorgonia.Node) { return b.mlp(widths...) })
}

func (b *builder) mlp(widths ...int) (output, cost *gorgonia.Node) {
	Require(len(widths) >= 2, "build graph: an MLP needs inputs and outputs, got widths %v", widths)
	last := len(widths) - 1
	x := b.input("x", widths[0])
	for i := 1; i < last; i++ {
		x = b.activate(b.linear(fmt.Sprintf("fc%d", i), x, widths[i-1], widths[i]))
	}
	x = b.linear(fmt.Sprintf("fc%d", last), x, widths[last-1], widths[last])
	if last == 1 { // the cost is convex, so a random start adds noise and nothing else
		b.initial = []Initialiser{Value(0), Value(0)}
	}
	return b.trained(x, widths[last])
}
