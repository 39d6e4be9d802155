package cpu_test

import (
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Views of views, of parameters and of samples' values, agree with Gorgonia's copies.
func TestComposedViews(t *testing.T) {
	type g = *enginetest.G
	reshape := func(g g, n *gorgonia.Node, shape ...int) *gorgonia.Node {
		return g.Do(gorgonia.Reshape(n, append(tensor.Shape{}, shape...)))
	}
	hidden := func(g g, shape ...int) *gorgonia.Node {
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 24)))))
		return reshape(g, h, append([]int{g.Batch}, shape...)...)
	}
	for name, build := range map[string]func(g g) *gorgonia.Node{
		"transposed parameter, broadcast": func(g g) *gorgonia.Node {
			v := g.Do(gorgonia.Transpose(g.Param("v", 4, 3, 1), 2, 1, 0)) // [1, 3, 4]
			return g.Do(gorgonia.BroadcastHadamardProd(hidden(g, 3, 4, 2), reshape(g, v, 1, 3, 4, 1), nil, []byte{0, 3}))
		},
		"parameter's transposed axes, split": func(g g) *gorgonia.Node {
			v := g.Do(gorgonia.Transpose(g.Param("v", 12, 2), 1, 0)) // [2, 12]
			return g.Do(gorgonia.BroadcastAdd(hidden(g, 2, 3, 4), reshape(g, v, 1, 2, 3, 4), nil, []byte{0}))
		},
		"parameter repeated along two axes that aren't beside one another": func(g g) *gorgonia.Node {
			return g.Do(gorgonia.BroadcastHadamardProd(hidden(g, 2, 3, 4), g.Param("v", 1, 1, 3, 1), nil, []byte{0, 1, 3}))
		},
		"every second value of an inner axis, repeated": func(g g) *gorgonia.Node {
			h := g.Do(gorgonia.Slice(hidden(g, 4, 6), nil, gorgonia.S(0, 4, 2), gorgonia.S(1, 2)))
			return g.Do(gorgonia.BroadcastHadamardProd(hidden2(g, 2, 3), reshape(g, h, g.Batch, 2, 1), nil, []byte{2}))
		},
		"transposed, sliced, transposed back": func(g g) *gorgonia.Node {
			h := g.Do(gorgonia.Transpose(hidden(g, 2, 3, 4), 0, 3, 1, 2))
			h = g.Do(gorgonia.Slice(h, nil, gorgonia.S(1, 3)))
			return g.Do(gorgonia.Transpose(g.Do(gorgonia.Square(h)), 0, 2, 3, 1))
		},
		"sums over two axes that aren't beside one another": func(g g) *gorgonia.Node {
			return g.Do(gorgonia.Square(g.Do(gorgonia.Sum(hidden(g, 2, 3, 4), 1, 3))))
		},
		"a value sliced twice and added": func(g g) *gorgonia.Node {
			h := hidden(g, 24)
			return g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Slice(h, nil, gorgonia.S(0, 16))), g.Do(gorgonia.Slice(h, nil, gorgonia.S(8, 24)))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
				g := enginetest.NewG(batch, 3)
				n := build(g)
				return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(n)))))
			}, 1, nil)
		})
	}
}

func hidden2(g *enginetest.G, shape ...int) *gorgonia.Node {
	h := g.Do(gorgonia.Mul(g.In("y", 4), g.Param("u", 4, shape[0]*shape[1])))
	return g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, shape[0], shape[1]}))
}
