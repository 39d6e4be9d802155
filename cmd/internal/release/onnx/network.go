package onnx

import (
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// network computes the layers of a model.
type network struct {
	*graph
	activation release.Activation
	parameters map[string]train.Parameter
	tokens     string // of texts
}

// layer adds a layer and returns its result.
func (n *network) layer(l networks.Layer, x string) (string, error) {
	switch l.Kind {
	case networks.KindFlatten:
		return n.op("Flatten", []string{x}, intOf("axis", 1)), nil
	case networks.KindLinear:
		return n.op("Gemm", []string{x, n.parameter(l, "weight"), n.parameter(l, "bias")}, intOf("transB", 1)), nil
	case networks.KindConv2d:
		return n.op("Conv", []string{x, n.parameter(l, "weight"), n.parameter(l, "bias")}, intsOf("kernel_shape", l.Kernel, l.Kernel),
			intsOf("strides", l.Stride, l.Stride), intsOf("pads", l.Padding, l.Padding, l.Padding, l.Padding)), nil
	case networks.KindMaxPool2d:
		return n.op("MaxPool", []string{x}, intsOf("kernel_shape", l.Kernel, l.Kernel), intsOf("strides", l.Stride, l.Stride)), nil
	case networks.KindEmbedding:
		return n.op("Gather", []string{n.parameter(l, "weight"), x}, intOf("axis", 0)), nil
	case networks.KindMean:
		return n.mean(x), nil
	case networks.KindActivation:
		return n.activate(x), nil
	case networks.KindReLU:
		return n.op("Relu", []string{x}), nil
	}
	return "", fmt.Errorf("a layer of kind %q, which no operator is known for", l.Kind)
}

func (n *network) parameter(l networks.Layer, part string) string {
	p := n.parameters[l.Name+"."+part]
	return n.constant(p.Name, float, p.Shape, little(p.Values))
}

// activate returns the tempered sigmoid of x.
func (n *network) activate(x string) string {
	a := n.activation
	if networks.TemperedSigmoid(a) == networks.Tanh {
		return n.op("Tanh", []string{x})
	}
	x = n.op("Mul", []string{x, n.floats(nil, float32(a.Temperature))})
	x = n.op("Sigmoid", []string{x})
	x = n.op("Mul", []string{x, n.floats(nil, float32(a.Scale))})
	return n.op("Sub", []string{x, n.floats(nil, float32(a.Offset))})
}

// mean returns the mean of x [N, tokens, width] over the tokens that aren't padding.
func (n *network) mean(x string) string {
	real := n.cast(n.op("Greater", []string{n.tokens, n.ints(0)}), float)
	sum := n.op("ReduceSum", []string{n.op("Mul", []string{x, n.unsqueeze(real, 2)}), n.ints(1)}, intOf("keepdims", 0))
	count := n.op("ReduceSum", []string{real, n.ints(1)}, intOf("keepdims", 1))
	return n.op("Div", []string{sum, count})
}
