package networks

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is train.Model, which this package can't import: values of the two types are assignable to each other.
type Model = struct {
	Inputs     gorgonia.Nodes
	Parameters gorgonia.Nodes
	Constants  gorgonia.Nodes
	Output     *gorgonia.Node
	Cost       *gorgonia.Node
	Initial    func(seed rand.Source) [][]float32
}

// Options are the options that all builders share: see package models.
type Options struct {
	Batch      int
	Activation TemperedSigmoid
	Vocabulary int
	Double     bool
}

// TemperedSigmoid is an activation: see package models.
type TemperedSigmoid struct {
	Scale, Temperature, Offset float64
}

// Tanh is the default activation.
var Tanh = TemperedSigmoid{Scale: 2, Temperature: 2, Offset: 1}

// builder builds a graph. It keeps the first error, so that layers can be added without a check after each.
type builder struct {
	graph   *gorgonia.ExprGraph
	opts    Options
	dtype   tensor.Dtype
	params  gorgonia.Nodes
	initial []Initialiser // of params
	layers  []Layer
	err     error
}

func newBuilder(o Options) *builder {
	o.Batch, o.Activation = cmp.Or(o.Batch, 1), cmp.Or(o.Activation, Tanh)
	b := &builder{graph: gorgonia.NewGraph(), opts: o, dtype: tensor.Float32}
	if o.Double {
		b.dtype = tensor.Float64
	}
	return b
}

// do adds the result of op to the graph, unless an earlier operation failed.
func (b *builder) do(what string, op func() (*gorgonia.Node, error)) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, err := op()
	if err != nil {
		b.err = fmt.Errorf("%s: %w", what, err)
	}
	return n
}

// layer adds to the description of the network, which [Layers] returns.
func (b *builder) layer(l Layer) { b.layers = append(b.layers, l) }

func (b *builder) input(name string, shape ...int) *gorgonia.Node {
	shape = append([]int{b.opts.Batch}, shape...)
	return gorgonia.NewTensor(b.graph, b.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
}

// constant adds a number in the graph's precision.
func (b *builder) constant(v float64) *gorgonia.Node {
	if b.opts.Double {
		return gorgonia.NewConstant(v)
	}
	return gorgonia.NewConstant(float32(v))
}

// activate applies the activation of the options to x.
func (b *builder) activate(x *gorgonia.Node) *gorgonia.Node {
	b.layer(Layer{Kind: KindActivation})
	a := b.opts.Activation
	if a == Tanh {
		return b.do("tanh", func() (*gorgonia.Node, error) { return gorgonia.Tanh(x) })
	}
	x = b.do("temperature", func() (*gorgonia.Node, error) { return gorgonia.Mul(x, b.constant(a.Temperature)) })
	x = b.do("sigmoid", func() (*gorgonia.Node, error) { return gorgonia.Sigmoid(x) })
	x = b.do("scale", func() (*gorgonia.Node, error) { return gorgonia.Mul(x, b.constant(a.Scale)) })
	return b.do("offset", func() (*gorgonia.Node, error) { return gorgonia.Sub(x, b.constant(a.Offset)) })
}

// linear computes x·w + bias for x [batch, in].
func (b *builder) linear(name string, x *gorgonia.Node, in, out int) *gorgonia.Node {
	b.layer(Layer{Kind: KindLinear, Name: name, In: in, Out: out})
	w := b.param(name+".weight", KaimingUniform(in), in, out)
	bias := b.param(name+".bias", KaimingUniform(in), 1, out)
	x = b.do(name, func() (*gorgonia.Node, error) { return gorgonia.Mul(x, w) })
	return b.do(name+" bias", func() (*gorgonia.Node, error) { return gorgonia.BroadcastAdd(x, bias, nil, []byte{0}) })
}

// conv computes the convolution of x [batch, in, height, width], with square kernels.
func (b *builder) conv(name string, x *gorgonia.Node, in, out, kernel, stride, pad int) *gorgonia.Node {
	b.layer(Layer{Kind: KindConv2d, Name: name, In: in, Out: out, Kernel: kernel, Stride: stride, Padding: pad})
	initial := KaimingUniform(in * kernel * kernel)
	w := b.param(name+".weight", initial, out, in, kernel, kernel)
	bias := b.param(name+".bias", initial, 1, out, 1, 1)
	x = b.do(name, func() (*gorgonia.Node, error) {
		return gorgonia.Conv2d(x, w, tensor.Shape{kernel, kernel}, []int{pad, pad}, []int{stride, stride}, []int{1, 1})
	})
	return b.do(name+" bias", func() (*gorgonia.Node, error) { return gorgonia.BroadcastAdd(x, bias, nil, []byte{0, 2, 3}) })
}

// model returns the graph with the given output and inputs, to which it adds the labels y [batch, outputs], and with
// the cost of its outputs: the cross-entropy of logits, or half the squared error of a single output.
func (b *builder) model(output *gorgonia.Node, outputs int, inputs ...*gorgonia.Node) (Model, error) {
	y := b.input("y", outputs)
	build := b.crossEntropy
	if outputs == 1 {
		build = b.squaredError
	}
	cost := build(y, output)
	if b.err != nil {
		return Model{}, fmt.Errorf("build graph: %w", b.err)
	}
	return Model{Inputs: append(inputs, y), Parameters: b.params, Output: output, Cost: cost, Initial: Initial(b.params, b.initial)}, nil
}

func (b *builder) crossEntropy(y, logits *gorgonia.Node) *gorgonia.Node {
	p := b.do("log softmax", func() (*gorgonia.Node, error) { return gorgonia.LogSoftMax(logits) })
	p = b.do("cross-entropy", func() (*gorgonia.Node, error) { return gorgonia.HadamardProd(y, p) })
	p = b.do("cost", func() (*gorgonia.Node, error) { return gorgonia.Sum(p) })
	return b.do("cost", func() (*gorgonia.Node, error) { return gorgonia.Neg(p) })
}

func (b *builder) squaredError(y, output *gorgonia.Node) *gorgonia.Node {
	e := b.do("residual", func() (*gorgonia.Node, error) { return gorgonia.Sub(output, y) })
	e = b.do("squared error", func() (*gorgonia.Node, error) { return gorgonia.Square(e) })
	e = b.do("cost", func() (*gorgonia.Node, error) { return gorgonia.Sum(e) })
	return b.do("cost", func() (*gorgonia.Node, error) { return gorgonia.Mul(e, b.constant(0.5)) })
}
