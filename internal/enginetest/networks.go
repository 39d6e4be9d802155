package enginetest

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The paper's networks, and its one of texts with small shapes, drawn without package models, which stands above this
// one.
var networks = map[string]Graph{
	"cnn":                  {1, convolutional},
	"mlp":                  {1, layers(784, 120, 120, 10)},
	"embedding classifier": {1, embedded},
}

// MLP returns the program of a network of the given widths with bound parameters.
func MLP(t TB, widths ...int) *compile.Program {
	t.Helper()
	return Graph{3, layers(widths...)}.Program(t, 1)
}

func layers(widths ...int) func(*G) (compile.Source, error) {
	return func(g *G) (compile.Source, error) {
		x := g.In("x", widths[0])
		last := len(widths) - 1
		for i := 1; i < last; i++ {
			x = g.Do(gorgonia.Tanh(g.dense(fmt.Sprintf("fc%d", i), x, widths[i-1], widths[i])))
		}
		return g.classes(g.dense(fmt.Sprintf("fc%d", last), x, widths[last-1], widths[last]), widths[last])
	}
}

func convolutional(g *G) (compile.Source, error) {
	x := g.In("x", 1, 28, 28)
	for i, c := range []struct{ in, out, kernel, pad int }{{1, 16, 8, 3}, {16, 32, 4, 0}} {
		name, fan := fmt.Sprintf("conv%d", i+1), c.in*c.kernel*c.kernel
		w, b := g.within(fan, name+".weight", c.out, c.in, c.kernel, c.kernel), g.within(fan, name+".bias", 1, c.out, 1, 1)
		x = g.Do(gorgonia.Conv2d(x, w, tensor.Shape{c.kernel, c.kernel}, []int{c.pad, c.pad}, []int{2, 2}, []int{1, 1}))
		x = g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(x, b, nil, []byte{0, 2, 3}))))
		x = g.Do(gorgonia.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}))
	}
	x = g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, 512}))
	return g.classes(g.dense("fc2", g.Do(gorgonia.Tanh(g.dense("fc1", x, 512, 32))), 32, 10), 10)
}

func embedded(g *G) (compile.Source, error) {
	const rows, length, width = 30, 9, 4
	ids, weights := g.Ids("ids", length), g.In("weights", length)
	flat := g.Do(gorgonia.Reshape(ids, tensor.Shape{g.Batch * length}))
	x := g.Do(gorgonia.ByIndices(g.within(1, "embedding.weight", rows, width), flat, 0))
	x = g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, length, width}))
	column := g.Do(gorgonia.Reshape(weights, tensor.Shape{g.Batch, length, 1}))
	x = g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastHadamardProd(x, column, nil, []byte{2})), 1))
	return g.classes(g.dense("fc2", g.Do(gorgonia.Rectify(g.dense("fc1", x, width, 5))), 5, 3), 3)
}

// within adds a parameter with values from U(−1/√fan, 1/√fan).
func (g *G) within(fan int, name string, shape ...int) *gorgonia.Node {
	return g.param(1/math.Sqrt(float64(fan)), name, shape...)
}

// dense adds a layer of units with a bias.
func (g *G) dense(name string, x *gorgonia.Node, in, out int) *gorgonia.Node {
	w, b := g.within(in, name+".weight", in, out), g.within(in, name+".bias", 1, out)
	return g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), b, nil, []byte{0}))
}

// classes closes a graph with the cross-entropy of logits.
func (g *G) classes(logits *gorgonia.Node, n int) (compile.Source, error) {
	y := g.In("y", n)
	return g.Done(logits, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(y, g.Do(gorgonia.LogSoftMax(logits)))))))))
}

// Bound returns a graph with values bound to its parameters.
func Bound(src compile.Source, values [][]float32) (compile.Source, error) {
	for i, p := range src.Params {
		g := G{dtype: p.Dtype()}
		if err := gorgonia.Let(p, g.value(values[i], p.Shape())); err != nil {
			return compile.Source{}, fmt.Errorf("bind parameter %q: %w", p.Name(), err)
		}
	}
	return src, nil
}
