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
	return newBuilder(o).cnn(shape, outputs)
}

func (b *builder) cnn(shape []int, outputs int) (Model, error) {
	image := slices.Clone(shape)
	if len(image) == 2 {
		image = []int{1, shape[0], shape[1]}
	}
	if len(image) != 3 {
		return Model{}, fmt.Errorf("cnn takes images of shape [channels height width] or [height width], and a sample has the shape %v; take linear or mlp", shape)
	}
	height, width := cnnSize(image[1]), cnnSize(image[2])
	if height < 1 || width < 1 {
		return Model{}, fmt.Errorf("cnn needs images of 14 by 14 or more, channels first, and a sample has the shape %v; take linear or mlp", shape)
	}
	input := b.input("x", image...)
	pool := func(x *gorgonia.Node) *gorgonia.Node {
		b.layer(Layer{Kind: KindMaxPool2d, Kernel: poolKernel, Stride: poolStride})
		return b.do("max-pool", func() (*gorgonia.Node, error) {
			return gorgonia.MaxPool2D(x, tensor.Shape{poolKernel, poolKernel}, []int{0, 0}, []int{poolStride, poolStride})
		})
	}
	x := pool(b.activate(b.conv("conv1", input, image[0], conv1Channels, conv1Kernel, conv1Stride, conv1Pad)))
	x = pool(b.activate(b.conv("conv2", x, conv1Channels, conv2Channels, conv2Kernel, conv2Stride, conv2Pad)))
	flat := conv2Channels * height * width
	b.layer(Layer{Kind: KindFlatten})
	x = b.do("flatten", func() (*gorgonia.Node, error) { return gorgonia.Reshape(x, tensor.Shape{b.opts.Batch, flat}) })
	x = b.activate(b.linear("fc1", x, flat, cnnHidden))
	return b.model(b.linear("fc2", x, cnnHidden, outputs), outputs, input)
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
func MLP(o Options, widths ...int) (Model, error) { return newBuilder(o).mlp(widths...) }

func (b *builder) mlp(widths ...int) (Model, error) {
	if len(widths) < 2 {
		return Model{}, fmt.Errorf("build graph: an MLP needs inputs and outputs, got widths %v", widths)
	}
	input := b.input("x", widths[0])
	x := input
	for i := 1; i < len(widths)-1; i++ {
		x = b.activate(b.linear(fmt.Sprintf("fc%d", i), x, widths[i-1], widths[i]))
	}
	last := len(widths) - 1
	output := b.linear(fmt.Sprintf("fc%d", last), x, widths[last-1], widths[last])
	if last == 1 { // the cost is convex, so a random start adds noise and nothing else
		b.initial = []Initialiser{Value(0), Value(0)}
	}
	return b.model(output, widths[last], input)
}
