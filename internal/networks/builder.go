package networks

import (
	"cmp"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

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

// builder adds layers to a graph.
type builder struct {
	*Graph
	opts   Options
	layers []Layer
	convs  []folded // of a ResNet
}

func newBuilder(o Options) *builder {
	o.Activation = cmp.Or(o.Activation, Tanh)
	dtype := tensor.Float32
	if o.Double {
		dtype = tensor.Float64
	}
	return &builder{Graph: NewGraph(cmp.Or(o.Batch, 1), dtype), opts: o}
}

// build returns the model that f adds to the graph.
func (b *builder) build(f func(b *builder) (output, cost *gorgonia.Node)) (Model, error) {
	return b.Build(func() (output, cost *gorgonia.Node) { return f(b) }, func(err error) error { return err })
}

// layer adds to the description of the network, which [Layers] returns.
func (b *builder) layer(l Layer) { b.layers = append(b.layers, l) }

func (b *builder) input(name string, shape ...int) *gorgonia.Node {
	return b.Input(name, b.dtype, shape...)
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
		return Do(gorgonia.Tanh(x))
	}
	x = Do(gorgonia.Sigmoid(Do(gorgonia.Mul(x, b.constant(a.Temperature)))))
	x = Do(gorgonia.Mul(x, b.constant(a.Scale)))
	return Do(gorgonia.Sub(x, b.constant(a.Offset)))
}

// rectify applies ReLU to x.
func (b *builder) rectify(x *gorgonia.Node) *gorgonia.Node {
	b.layer(Layer{Kind: KindReLU})
	return Do(gorgonia.Rectify(x))
}

// linear computes x·w + bias for x [batch, in].
func (b *builder) linear(name string, x *gorgonia.Node, in, out int) *gorgonia.Node {
	b.layer(Layer{Kind: KindLinear, Name: name, In: in, Out: out})
	w := b.Parameter(name+".weight", KaimingUniform(in), in, out)
	bias := b.Parameter(name+".bias", KaimingUniform(in), 1, out)
	return Do(gorgonia.BroadcastAdd(Do(gorgonia.Mul(x, w)), bias, nil, []byte{0}))
}

// conv computes the convolution of x [batch, in, height, width], with square kernels.
func (b *builder) conv(name string, x *gorgonia.Node, in, out, kernel, stride, pad int) *gorgonia.Node {
	b.layer(Layer{Kind: KindConv2d, Name: name, In: in, Out: out, Kernel: kernel, Stride: stride, Padding: pad})
	initial := KaimingUniform(in * kernel * kernel)
	w := b.Parameter(name+".weight", initial, out, in, kernel, kernel)
	bias := b.Parameter(name+".bias", initial, 1, out, 1, 1)
	x = Do(gorgonia.Conv2d(x, w, tensor.Shape{kernel, kernel}, []int{pad, pad}, []int{stride, stride}, []int{1, 1}))
	return Do(gorgonia.BroadcastAdd(x, bias, nil, []byte{0, 2, 3}))
}

// trained returns the output and its cost by labels y [batch, outputs], which it adds to the inputs: the cross-entropy
// of logits, or half the squared error of a single output.
func (b *builder) trained(output *gorgonia.Node, outputs int) (_, cost *gorgonia.Node) {
	y := b.input("y", outputs)
	if outputs == 1 {
		e := Do(gorgonia.Square(Do(gorgonia.Sub(output, y))))
		return output, Do(gorgonia.Mul(Do(gorgonia.Sum(e)), b.constant(0.5)))
	}
	p := Do(gorgonia.HadamardProd(y, Do(gorgonia.LogSoftMax(output))))
	return output, Do(gorgonia.Neg(Do(gorgonia.Sum(p))))
}
