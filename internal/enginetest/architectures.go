package enginetest

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Architectures returns networks of the kinds that people bring, in sizes at which speed can be compared with other
// frameworks': bench/peers has the same ones. Each ends in a cross-entropy.
func Architectures() map[string]Graph {
	return map[string]Graph{
		"attention":    {70, attention},
		"gru":          {71, gru},
		"layer norm":   {72, layerNorms},
		"residual cnn": {73, residualCNN},
	}
}

// dense returns x·w + b.
func dense(g *G, name string, x *gorgonia.Node, from, to int) *gorgonia.Node {
	h := g.Do(gorgonia.Mul(x, g.Param(name, from, to)))
	return g.Do(gorgonia.BroadcastAdd(h, g.Param(name+" bias", 1, to), nil, []byte{0}))
}

// affineNorm is layer normalisation of rows with a scale and an offset.
func affineNorm(g *G, name string, h *gorgonia.Node, width int) *gorgonia.Node {
	h = layerNorm(g, h, false)
	h = g.Do(gorgonia.BroadcastHadamardProd(h, g.Param(name+" scale", 1, width), nil, []byte{0}))
	return g.Do(gorgonia.BroadcastAdd(h, g.Param(name+" offset", 1, width), nil, []byte{0}))
}

// attention is an encoder block of four heads over 32 tokens of a vocabulary of 1,000, 64 wide, and a classifier of the
// tokens' mean.
func attention(g *G) (compile.Source, error) {
	const tokens, vocabulary, width, heads, inner, outputs = 32, 1000, 64, 4, 128, 4
	e := g.gather(g.Param("embedding", vocabulary, width), g.Ids("ids", tokens), tokens)
	e = g.Do(gorgonia.Reshape(e, tensor.Shape{g.Batch, tokens, width}))
	x := g.Do(gorgonia.Reshape(g.Do(gorgonia.BroadcastAdd(e, g.Param("positions", 1, tokens, width), nil, []byte{0})), tensor.Shape{g.Batch * tokens, width}))
	head := func(name string) *gorgonia.Node {
		h := g.Do(gorgonia.Reshape(dense(g, name, x, width, width), tensor.Shape{g.Batch, tokens, heads, width / heads}))
		return g.Do(gorgonia.Transpose(h, 0, 2, 1, 3))
	}
	scores := g.Do(gorgonia.Mul(g.Do(gorgonia.BatchedMatMul(head("q"), head("k"), false, true)), g.Number(0.25)))
	mixed := g.Do(gorgonia.BatchedMatMul(g.Do(gorgonia.SoftMax(scores)), head("v")))
	mixed = g.Do(gorgonia.Reshape(g.Do(gorgonia.Transpose(mixed, 0, 2, 1, 3)), tensor.Shape{g.Batch * tokens, width}))
	x = affineNorm(g, "first norm", g.Do(gorgonia.Add(x, dense(g, "o", mixed, width, width))), width)
	f := dense(g, "down", g.Do(gorgonia.Rectify(dense(g, "up", x, width, inner))), inner, width)
	x = affineNorm(g, "second norm", g.Do(gorgonia.Add(x, f)), width)
	mean := g.Do(gorgonia.Mean(g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, tokens, width})), 1))
	return g.classes(dense(g, "out", mean, width, outputs), outputs)
}

// gru is a gated recurrent unit of 64 over 16 steps of 16 features, and a classifier of its last state.
func gru(g *G) (compile.Source, error) {
	const steps, features, width, outputs = 16, 16, 64, 10
	x := g.In("x", steps, features)
	w, u, b, c := g.Param("w", features, 3*width), g.Param("u", width, 3*width), g.Param("b", 1, 3*width), g.Param("c", 1, 3*width)
	bias := func(h, b *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0})) }
	gate := func(h *gorgonia.Node, i int) *gorgonia.Node {
		return g.Do(gorgonia.Slice(h, nil, gorgonia.S(i*width, (i+1)*width)))
	}
	var h *gorgonia.Node
	for t := range steps {
		from := bias(g.Do(gorgonia.Mul(g.Do(gorgonia.Slice(x, nil, gorgonia.S(t))), w)), b)
		if h == nil {
			z := g.Do(gorgonia.Sigmoid(bias(gate(from, 0), g.Do(gorgonia.Slice(c, nil, gorgonia.S(0, width))))))
			r := g.Do(gorgonia.Sigmoid(bias(gate(from, 1), g.Do(gorgonia.Slice(c, nil, gorgonia.S(width, 2*width))))))
			own := g.Do(gorgonia.BroadcastHadamardProd(r, g.Do(gorgonia.Slice(c, nil, gorgonia.S(2*width, 3*width))), nil, []byte{0}))
			n := g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(gate(from, 2), own))))
			h = g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Sub(g.Number(1), z)), n))
			continue
		}
		back := bias(g.Do(gorgonia.Mul(h, u)), c)
		z := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Add(gate(from, 0), gate(back, 0)))))
		r := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Add(gate(from, 1), gate(back, 1)))))
		n := g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(gate(from, 2), g.Do(gorgonia.HadamardProd(r, gate(back, 2)))))))
		h = g.Do(gorgonia.Add(n, g.Do(gorgonia.HadamardProd(z, g.Do(gorgonia.Sub(h, n))))))
	}
	return g.classes(dense(g, "out", h, width, outputs), outputs)
}

// layerNorms is a perceptron with layer normalisation before each tanh.
func layerNorms(g *G) (compile.Source, error) {
	const features, width, outputs = 784, 256, 10
	h := g.In("x", features)
	for i, from := range []int{features, width} {
		h = g.Do(gorgonia.Tanh(affineNorm(g, fmt.Sprint("norm ", i), dense(g, fmt.Sprint("layer ", i), h, from, width), width)))
	}
	return g.classes(dense(g, "out", h, width, outputs), outputs)
}

// residualCNN has two residual blocks of 16 channels with group normalisation over images of 28 by 28 pixels, pooled
// between them.
func residualCNN(g *G) (compile.Source, error) {
	const channels, outputs = 16, 10
	conv := func(name string, x *gorgonia.Node, from int) *gorgonia.Node {
		h := g.Do(gorgonia.Conv2d(x, g.Param(name, channels, from, 3, 3), tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		return g.Do(gorgonia.GroupNorm(h, g.Param(name+" scale", 1, channels, 1, 1), g.Param(name+" offset", 1, channels, 1, 1), 4, channels, 1e-5))
	}
	h := g.Do(gorgonia.Rectify(conv("first", g.In("x", 1, 28, 28), 1)))
	for i := range 2 {
		h = g.Do(gorgonia.MaxPool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		inner := g.Do(gorgonia.Rectify(conv(fmt.Sprint("a", i), h, channels)))
		h = g.Do(gorgonia.Rectify(g.Do(gorgonia.Add(h, conv(fmt.Sprint("b", i), inner, channels)))))
	}
	h = g.Do(gorgonia.Reshape(g.Do(gorgonia.GlobalAveragePool2D(h)), tensor.Shape{g.Batch, channels}))
	return g.classes(dense(g, "out", h, channels, outputs), outputs)
}
