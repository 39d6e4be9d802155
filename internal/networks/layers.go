package networks

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Kind is the kind of a [Layer].
type Kind string

// The kinds of layers, each with the equivalent module of torch.nn.
const (
	KindFlatten    Kind = "flatten"    // Flatten: [batch, …] to [batch, values], row-major
	KindLinear     Kind = "linear"     // Linear(In, Out)
	KindConv2d     Kind = "conv2d"     // Conv2d(In, Out, Kernel, Stride, Padding)
	KindMaxPool2d  Kind = "max_pool2d" // MaxPool2d(Kernel, Stride)
	KindEmbedding  Kind = "embedding"  // Embedding(In, Out)
	KindMean       Kind = "mean"       // none: the mean over a text's tokens, without the padding
	KindActivation Kind = "activation" // the tempered sigmoid of [Options]; Tanh by default
	KindReLU       Kind = "relu"       // ReLU
)

// Layer is one layer of a network. Kernels are square, and strides and paddings equal in both directions.
type Layer struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name,omitempty"`    // of layers with parameters, which are called NAME.weight and NAME.bias
	In      int    `json:"in,omitempty"`      // inputs of a unit, channels, or words
	Out     int    `json:"out,omitempty"`     // units, channels, or the width of an embedding
	Kernel  int    `json:"kernel,omitempty"`  // side, in pixels
	Stride  int    `json:"stride,omitempty"`  // in pixels
	Padding int    `json:"padding,omitempty"` // pixels of zeros on each side
}

// Layers returns the layers of the network that [New] builds, in their order. It returns the errors of New.
func Layers(spec string, shape []int, outputs int, o Options) ([]Layer, error) {
	b := newBuilder(o)
	_, err := b.build(func(*builder) (output, cost *gorgonia.Node) { return b.named(spec, shape, outputs) })
	return b.layers, err
}

// Parameter is train.Parameter, which this package can't import.
type Parameter = struct {
	Name   string
	Shape  []int
	Values []float32
}

// layout is a parameter of a layer: its name, and its shapes in the graph and in PyTorch.
type layout struct {
	name           string
	graph, pytorch []int
	transposed     bool // of the two axes of a matrix
}

// layouts returns the layer's parameters, in the graph's order.
func (l Layer) layouts() []layout {
	weight, bias := l.Name+".weight", l.Name+".bias"
	switch l.Kind {
	case KindLinear:
		return []layout{
			{weight, []int{l.In, l.Out}, []int{l.Out, l.In}, true},
			{bias, []int{1, l.Out}, []int{l.Out}, false},
		}
	case KindConv2d:
		kernels := []int{l.Out, l.In, l.Kernel, l.Kernel}
		return []layout{
			{weight, kernels, kernels, false},
			{bias, []int{1, l.Out, 1, 1}, []int{l.Out}, false},
		}
	case KindEmbedding:
		table := []int{l.In, l.Out}
		return []layout{{weight, table, table, false}}
	}
	return nil
}

// ToPyTorch converts the parameters of a graph to PyTorch's layouts, such as [outputs, inputs] for a linear layer: a
// module with layers of the same names takes the result as its state. Names stay as they are. The error names a
// parameter that is missing, too many or of the wrong shape. [FromPyTorch] is the inverse.
func ToPyTorch[P ~Parameter](layers []Layer, graph []P) ([]P, error) {
	return converted(layers, graph, func(l layout) (from, to []int) { return l.graph, l.pytorch })
}

// FromPyTorch converts parameters in PyTorch's layouts to the graph's layouts and order. It returns the errors of
// [ToPyTorch].
func FromPyTorch[P ~Parameter](layers []Layer, pytorch []P) ([]P, error) {
	return converted(layers, pytorch, func(l layout) (from, to []int) { return l.pytorch, l.graph })
}

func converted[P ~Parameter](layers []Layer, parameters []P, shapes func(layout) (from, to []int)) ([]P, error) {
	var out []P
	for _, layer := range layers {
		for _, l := range layer.layouts() {
			from, to := shapes(l)
			at := slices.IndexFunc(parameters, func(p P) bool { return Parameter(p).Name == l.name })
			if at < 0 || !slices.Equal(Parameter(parameters[at]).Shape, from) || len(Parameter(parameters[at]).Values) != tensor.ProdInts(from) {
				return nil, fmt.Errorf("layer %s takes a parameter %q of shape %v, which isn't there", layer.Name, l.name, from)
			}
			values := slices.Clone(Parameter(parameters[at]).Values)
			if l.transposed {
				values = transposed(values, from[0], from[1])
			}
			out = append(out, P(Parameter{Name: l.name, Shape: to, Values: values}))
		}
	}
	if len(parameters) != len(out) {
		return nil, fmt.Errorf("%d parameters, and the layers take %d", len(parameters), len(out))
	}
	return out, nil
}
