package enginetest

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Constant adds a constant to the graph.
func (g *G) Constant(name string, values []float32, shape ...int) *gorgonia.Node {
	n := gorgonia.NewTensor(g.Graph, g.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(g.value(values, shape)))
	g.src.Constants = append(g.src.Constants, n)
	return n
}

// logits returns a log softmax [batch, 4] of logits.
func (g *G) logits() *gorgonia.Node {
	return g.Do(gorgonia.LogSoftMax(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 4)))))
}

// views returns the values of several images of a sample, as [batch·images, channels, height, width].
func (g *G) views(images, channels, height, width int) *gorgonia.Node {
	return g.Do(gorgonia.Reshape(g.In("x", images, channels, height, width), tensor.Shape{g.Batch * images, channels, height, width}))
}

// written has graphs as research code writes them: log probabilities with several uses, constants, and several images
// of a sample.
var written = map[string]Graph{
	"label smoothing": {70, func(g *G) (compile.Source, error) {
		l := g.logits()
		hard := g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.In("y", 4), l)), 1))
		smooth := g.Do(gorgonia.Mul(g.Do(gorgonia.Mean(l, 1)), g.Number(0.1)))
		return g.Done(l, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.Add(hard, smooth)))))))
	}},
	"entropy bonus": {71, func(g *G) (compile.Source, error) {
		l := g.logits()
		hard := g.Do(gorgonia.HadamardProd(g.In("y", 4), l))
		entropy := g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Exp(l)), l))
		return g.Done(l, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.Sub(hard, entropy)))))))
	}},
	"mean over augmentations": {72, func(g *G) (compile.Source, error) {
		x := g.Do(gorgonia.Reshape(g.In("x", 3, 5), tensor.Shape{g.Batch * 3, 5}))
		l := g.Do(gorgonia.LogSoftMax(g.Do(gorgonia.Mul(x, g.Param("w", 5, 4)))))
		l = g.Do(gorgonia.Mean(g.Do(gorgonia.Reshape(l, tensor.Shape{g.Batch, 3, 4})), 1))
		return g.Done(l, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.In("y", 4), l)))))))
	}},
	"frozen weights under trained ones": {73, func(g *G) (compile.Source, error) {
		x, a, b := g.In("x", 3), g.Param("a", 3, 1), g.Param("b", 1, 4)
		frozen := g.Constant("W", []float32{1, -2, 3, 0.5, -1, 2, 0.25, 1, -0.5, 1, 1, 2}, 3, 4)
		h := g.Do(gorgonia.Add(g.Do(gorgonia.Mul(x, frozen)), g.Do(gorgonia.Mul(g.Do(gorgonia.Mul(x, a)), b))))
		bias := g.Constant("c", []float32{0.5, -1, 2, 0.25}, 1, 4)
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(h, bias, nil, []byte{0})))))
	}},
	"causal attention masked by -Inf": {74, func(g *G) (compile.Source, error) {
		const tokens, width = 3, 2
		rows := g.Do(gorgonia.Reshape(g.In("x", tokens, width), tensor.Shape{g.Batch * tokens, width}))
		head := func(name string) *gorgonia.Node {
			return g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(rows, g.Param(name, width, width))), tensor.Shape{g.Batch, tokens, width}))
		}
		no := float32(math.Inf(-1))
		mask := g.Constant("mask", []float32{0, no, no, 0, 0, no, 0, 0, 0}, 1, tokens, tokens)
		scores := g.Do(gorgonia.BatchedMatMul(head("q"), head("k"), false, true))
		weights := g.Do(gorgonia.SoftMax(g.Do(gorgonia.BroadcastAdd(scores, mask, nil, []byte{0}))))
		return g.Squares(g.Do(gorgonia.BatchedMatMul(weights, head("v"))))
	}},
	// A state of the batch's size, through the matrix that later states go through; its rows needn't be zeros.
	"constant first state": {75, func(g *G) (compile.Source, error) {
		x, u, w := g.In("x", 2, 3), g.Param("u", 3, 3), g.Param("w", 3, 3)
		h := g.Constant("h", slices.Repeat([]float32{0.5, 0, -0.25}, g.Batch), g.Batch, 3)
		for t := range 2 {
			now := g.Do(gorgonia.Mul(g.Do(gorgonia.Slice(x, nil, gorgonia.S(t))), w))
			h = g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(now, g.Do(gorgonia.Mul(h, u))))))
		}
		return g.Squares(h)
	}},
	"constants along a batch of rows": {76, func(g *G) (compile.Source, error) {
		rows := g.Do(gorgonia.Reshape(g.In("x", 2, 3), tensor.Shape{g.Batch * 2, 3}))
		places := g.Constant("places", slices.Repeat([]float32{1, 0.5, -1, 2}, g.Batch), g.Batch*2, 2)
		scale := g.Do(gorgonia.Mul(g.Constant("scale", slices.Repeat([]float32{0.5, -2}, g.Batch), g.Batch*2, 1), g.Param("s", 1, 2)))
		h := g.Do(gorgonia.Add(g.Do(gorgonia.Mul(rows, g.Param("w", 3, 2))), places))
		h = g.Do(gorgonia.Tanh(g.Do(gorgonia.Sub(g.Do(gorgonia.Neg(scale)), h))))
		joined := g.Do(gorgonia.Concat(1, h, g.Do(gorgonia.Mul(places, g.Number(2)))))
		return g.rows(g.Do(gorgonia.Mul(joined, g.Param("v", 4, 2))), 4)
	}},
	"several images of a sample": {77, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Conv2d(g.views(3, 2, 5, 6), g.Param("w", 4, 2, 3, 2), tensor.Shape{3, 2}, []int{1, 1}, []int{1, 2}, []int{1, 1}))
		h = g.Do(gorgonia.GroupNorm(h, g.Param("s", 1, 4, 1, 1), g.Param("b", 1, 4, 1, 1), 2, 4, 0.01))
		h = g.Do(gorgonia.MaxPool2D(g.Do(gorgonia.Tanh(h)), tensor.Shape{2, 3}, []int{1, 0}, []int{2, 1}))
		h = g.Do(gorgonia.Conv2d(h, g.Param("v", 2, 4, 2, 1), tensor.Shape{2, 1}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		return g.rows(g.Do(gorgonia.Tanh(h)), 24)
	}},
	"two images compared": {78, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Conv2d(g.views(2, 1, 4, 4), g.Param("w", 3, 1, 2, 2), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}, []int{1, 1}))
		h = g.Do(gorgonia.Reshape(g.Do(gorgonia.Tanh(h)), tensor.Shape{g.Batch, 2, 12}))
		first, second := g.Do(gorgonia.Slice(h, nil, gorgonia.S(0))), g.Do(gorgonia.Slice(h, nil, gorgonia.S(1)))
		return g.Squares(g.Do(gorgonia.Sub(first, second)))
	}},
}
