package main

import (
	"fmt"

	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

const (
	batch        = 2 // of the graphs: training forms its own
	reviewTokens = 256
)

// network returns the network of a name and the number of its outputs. Parameters have the names of networks.py.
func network(name string) (train.Model, int, error) {
	var width int
	switch name {
	case "mnist":
		m, err := models.New("cnn", []int{1, 28, 28}, 10, models.Options{})
		return m, 10, err
	case "mlp":
		m, err := models.New("mlp", []int{784}, 10, models.Options{})
		return m, 10, err
	case "cifar":
		m, err := models.New("linear", []int{64}, 10, models.Options{})
		return m, 10, err
	case "imdb":
		m, err := models.New("embedding", []int{reviewTokens}, 2, models.Options{Vocabulary: 28996})
		return m, 2, err
	}
	if _, err := fmt.Sscanf(name, "w%d", &width); err == nil {
		m, err := models.New(fmt.Sprintf("mlp:%d,%d", width, width), []int{784}, 10, models.Options{})
		return m, 10, err
	}
	own := map[string]func(*graph) *G.Node{"attention": attention, "gru": gru, "layernorm": layerNorms, "rescnn": residualCNN, "resnet": resNet}[name]
	if own == nil {
		return train.Model{}, 0, fmt.Errorf("no network %q", name)
	}
	g := &graph{expr: G.NewGraph()}
	g.Output = own(g)
	outputs := g.Output.Shape()[1]
	y := g.input("y", tensor.Float32, outputs)
	g.Cost = G.Must(G.Neg(G.Must(G.Sum(G.Must(G.HadamardProd(y, G.Must(G.LogSoftMax(g.Output))))))))
	return g.Model, outputs, nil
}

type graph struct {
	expr *G.ExprGraph
	train.Model
}

func (g *graph) input(name string, of tensor.Dtype, shape ...int) *G.Node {
	shape = append([]int{batch}, shape...)
	n := G.NewTensor(g.expr, of, len(shape), G.WithShape(shape...), G.WithName(name))
	g.Inputs = append(g.Inputs, n)
	return n
}

func (g *graph) parameter(name string, shape ...int) *G.Node {
	n := G.NewTensor(g.expr, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name))
	g.Parameters = append(g.Parameters, n)
	return n
}

func (g *graph) dense(name string, x *G.Node, from, to int) *G.Node {
	h := G.Must(G.Mul(x, g.parameter(name+".weight", from, to)))
	return rowwise(G.BroadcastAdd, h, g.parameter(name+".bias", 1, to))
}

// layerNorm normalises rows, with a scale and an offset.
func (g *graph) layerNorm(name string, h *G.Node, width int) *G.Node {
	column := func(n *G.Node) *G.Node { return reshape(n, h.Shape()[0], 1) }
	h = G.Must(G.BroadcastSub(h, column(G.Must(G.Mean(h, 1))), nil, []byte{1}))
	variance := G.Must(G.Mean(G.Must(G.Square(h)), 1))
	deviation := G.Must(G.Sqrt(G.Must(G.Add(variance, G.NewConstant(float32(1e-5))))))
	h = G.Must(G.BroadcastHadamardDiv(h, column(deviation), nil, []byte{1}))
	h = rowwise(G.BroadcastHadamardProd, h, g.parameter(name+".weight", 1, width))
	return rowwise(G.BroadcastAdd, h, g.parameter(name+".bias", 1, width))
}

// conv is a convolution and a group normalisation.
func (g *graph) conv(name string, x *G.Node, from, to, side, stride int) *G.Node {
	pad := side / 2
	h := G.Must(G.Conv2d(x, g.parameter(name+".0.weight", to, from, side, side), tensor.Shape{side, side}, []int{pad, pad}, []int{stride, stride}, []int{1, 1}))
	return G.Must(G.GroupNorm(h, g.parameter(name+".1.weight", 1, to, 1, 1), g.parameter(name+".1.bias", 1, to, 1, 1), 4, to, 1e-5))
}

func rowwise(op func(a, b *G.Node, left, right []byte) (*G.Node, error), rows, row *G.Node) *G.Node {
	return G.Must(op(rows, row, nil, []byte{0}))
}

func reshape(n *G.Node, shape ...int) *G.Node { return G.Must(G.Reshape(n, tensor.Shape(shape))) }

// attention is an encoder block of four heads over 32 tokens, 64 wide, and a classifier of the tokens' mean.
func attention(g *graph) *G.Node {
	const tokens, width, heads = 32, 64, 4
	ids := reshape(g.input("ids", tensor.Int, tokens), batch*tokens)
	e := reshape(G.Must(G.ByIndices(g.parameter("embedding.weight", 1000, width), ids, 0)), batch, tokens, width)
	x := reshape(rowwise(G.BroadcastAdd, e, g.parameter("positions.weight", 1, tokens, width)), batch*tokens, width)
	head := func(name string) *G.Node {
		return G.Must(G.Transpose(reshape(g.dense(name, x, width, width), batch, tokens, heads, width/heads), 0, 2, 1, 3))
	}
	scores := G.Must(G.Mul(G.Must(G.BatchedMatMul(head("q"), head("k"), false, true)), G.NewConstant(float32(0.25))))
	mixed := G.Must(G.BatchedMatMul(G.Must(G.SoftMax(scores)), head("v")))
	mixed = reshape(G.Must(G.Transpose(mixed, 0, 2, 1, 3)), batch*tokens, width)
	x = g.layerNorm("first", G.Must(G.Add(x, g.dense("o", mixed, width, width))), width)
	inner := g.dense("down", G.Must(G.Rectify(g.dense("up", x, width, 2*width))), 2*width, width)
	x = g.layerNorm("second", G.Must(G.Add(x, inner)), width)
	return g.dense("out", G.Must(G.Mean(reshape(x, batch, tokens, width), 1)), width, 4)
}

// gru is a gated recurrent unit of 64 over 16 steps of 16 features. Its state is 0 before the first step, which needs
// no product.
func gru(g *graph) *G.Node {
	const times, features, width = 16, 16, 64
	x := g.input("x", tensor.Float32, times, features)
	w, b := g.parameter("ih.weight", features, 3*width), g.parameter("ih.bias", 1, 3*width)
	u, c := g.parameter("hh.weight", width, 3*width), g.parameter("hh.bias", 1, 3*width)
	gate := func(h *G.Node, i int) *G.Node { return G.Must(G.Slice(h, nil, G.S(i*width, (i+1)*width))) }
	var h *G.Node
	for t := range times {
		in := rowwise(G.BroadcastAdd, G.Must(G.Mul(G.Must(G.Slice(x, nil, G.S(t))), w)), b)
		if t == 0 {
			r := G.Must(G.Sigmoid(rowwise(G.BroadcastAdd, gate(in, 0), gate(c, 0))))
			z := G.Must(G.Sigmoid(rowwise(G.BroadcastAdd, gate(in, 1), gate(c, 1))))
			n := G.Must(G.Tanh(G.Must(G.Add(gate(in, 2), rowwise(G.BroadcastHadamardProd, r, gate(c, 2))))))
			h = G.Must(G.HadamardProd(G.Must(G.Sub(G.NewConstant(float32(1)), z)), n))
			continue
		}
		back := rowwise(G.BroadcastAdd, G.Must(G.Mul(h, u)), c)
		r := G.Must(G.Sigmoid(G.Must(G.Add(gate(in, 0), gate(back, 0)))))
		z := G.Must(G.Sigmoid(G.Must(G.Add(gate(in, 1), gate(back, 1)))))
		n := G.Must(G.Tanh(G.Must(G.Add(gate(in, 2), G.Must(G.HadamardProd(r, gate(back, 2)))))))
		h = G.Must(G.Add(n, G.Must(G.HadamardProd(z, G.Must(G.Sub(h, n))))))
	}
	return g.dense("out", h, width, 10)
}

// layerNorms is a perceptron with layer normalisation before each tanh.
func layerNorms(g *graph) *G.Node {
	h := g.input("x", tensor.Float32, 784)
	for i, from := range []int{784, 256} {
		h = G.Must(G.Tanh(g.layerNorm(fmt.Sprintf("n%d", i+1), g.dense(fmt.Sprintf("fc%d", i+1), h, from, 256), 256)))
	}
	return g.dense("out", h, 256, 10)
}

// residualCNN has two residual blocks of 16 channels, each after a max-pool.
func residualCNN(g *graph) *G.Node {
	h := G.Must(G.Rectify(g.conv("first", g.input("x", tensor.Float32, 1, 28, 28), 1, 16, 3, 1)))
	for i := range 2 {
		h = G.Must(G.MaxPool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		h = g.block(i, h, 16, 16)
	}
	return g.pooled(h, 16)
}

// resNet has three residual blocks of 16, 32 and 64 channels for images of 32 by 32 pixels.
func resNet(g *graph) *G.Node {
	h, from := G.Must(G.Rectify(g.conv("first", g.input("x", tensor.Float32, 3, 32, 32), 3, 16, 3, 1))), 16
	for i, to := range []int{16, 32, 64} {
		h, from = g.block(i, h, from, to), to
	}
	return g.pooled(h, from)
}

// block is a residual block, which halves the image if it has more channels after than before.
func (g *graph) block(i int, h *G.Node, from, to int) *G.Node {
	stride := 1
	if from != to {
		stride = 2
	}
	inner := G.Must(G.Rectify(g.conv(fmt.Sprintf("a.%d", i), h, from, to, 3, stride)))
	inner = g.conv(fmt.Sprintf("b.%d", i), inner, to, to, 3, 1)
	if from != to {
		h = g.conv(fmt.Sprintf("s.%d", i), h, from, to, 1, stride)
	}
	return G.Must(G.Rectify(G.Must(G.Add(h, inner))))
}

// pooled classifies the mean over the pixels.
func (g *graph) pooled(h *G.Node, channels int) *G.Node {
	return g.dense("out", reshape(G.Must(G.GlobalAveragePool2D(h)), batch, channels), channels, 10)
}
