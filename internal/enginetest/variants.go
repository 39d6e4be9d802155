package enginetest

import (
	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// variants returns operations of [Lone] over the shapes and axes that Gorgonia treats differently. Their results are
// weighted, so that a gradient at the wrong position shows.
func variants() map[string]Graph {
	values := func(g *G, shape ...int) *gorgonia.Node {
		size := tensor.Shape(shape).TotalSize()
		return g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, size))), append(tensor.Shape{}, shape...)))
	}
	ids := func() *gorgonia.Node {
		return gorgonia.NewConstant(tensor.New(tensor.WithShape(4), tensor.WithBacking([]int{2, 0, 2, 1})))
	}
	out := map[string]Graph{}
	for name, draw := range map[string]func(g *G) *gorgonia.Node{
		"batched product, left transposed": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 2, 4, 3), g.Do(gorgonia.Tanh(g.Param("v", 2, 4, 2))), true))
		},
		"batched product, right transposed": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 2, 3, 4), g.Do(gorgonia.Tanh(g.Param("v", 2, 2, 4))), false, true))
		},
		"batched product, both transposed": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 2, 4, 3), g.Do(gorgonia.Tanh(g.Param("v", 2, 2, 4))), true, true))
		},
		"batched product": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 2, 3, 4), g.Do(gorgonia.Tanh(g.Param("v", 2, 4, 2)))))
		},
		"batched product of four axes": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 2, 2, 3, 4), g.Do(gorgonia.Tanh(g.Param("v", 2, 2, 4, 2)))))
		},
		"batched product of columns": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 1, 3, 1), g.Do(gorgonia.Tanh(g.Param("v", 1, 1, 2)))))
		},
		"batched product to single numbers": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.BatchedMatMul(values(g, 3, 1, 2), g.Do(gorgonia.Tanh(g.Param("v", 3, 2, 1)))))
		},
		"softmax 3d": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.SoftMax(values(g, 2, 3, 4)))
		},
		"softmax 3d axis": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.SoftMax(values(g, 2, 3, 4), 2))
		},
		"softmax 4d": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Exp(g.Do(gorgonia.LogSoftMax(values(g, 2, 2, 3, 4)))))
		},
		"softmax vec": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.SoftMax(values(g, 5)))
		},
		"softmax col1": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.SoftMax(values(g, 5, 1), 1))
		},
		"softmax 11": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.SoftMax(values(g, 1, 1)))
		},
		"concat 0": func(g *G) *gorgonia.Node {
			a := values(g, 2, 3)
			return g.Do(gorgonia.Concat(0, a, g.Do(gorgonia.Square(a))))
		},
		"concat 0 row": func(g *G) *gorgonia.Node {
			a := values(g, 1, 3)
			return g.Do(gorgonia.Concat(0, a, g.Do(gorgonia.Square(a)), a))
		},
		"concat vec": func(g *G) *gorgonia.Node {
			a := values(g, 3)
			return g.Do(gorgonia.Concat(0, a, g.Do(gorgonia.Square(a)), a))
		},
		"concat col": func(g *G) *gorgonia.Node {
			a := values(g, 3, 1)
			return g.Do(gorgonia.Concat(1, a, g.Do(gorgonia.Square(a)), a))
		},
		"concat 2 of 3": func(g *G) *gorgonia.Node {
			a := values(g, 2, 2, 3)
			return g.Do(gorgonia.Concat(2, a, g.Do(gorgonia.Square(a)), a))
		},
		"concat 1 of 3": func(g *G) *gorgonia.Node {
			a := values(g, 2, 1, 3)
			return g.Do(gorgonia.Concat(1, a, g.Do(gorgonia.Square(a)), a))
		},
		"indices 0 of 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.ByIndices(values(g, 3, 2, 2), ids(), 0))
		},
		"embedding": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mul(g.Do(gorgonia.ByIndices(g.Param("e", 5, 4), ids(), 0)), g.Do(gorgonia.Transpose(g.In("x", 4)))))
		},
		"upsample 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Upsample2D(values(g, 1, 2, 2, 2), 3))
		},
		"max of equals": func(g *G) *gorgonia.Node {
			a := values(g, 2, 3)
			return g.Do(gorgonia.Max(g.Do(gorgonia.Concat(0, a, g.Do(gorgonia.Concat(0, a, a)))), 0))
		},
		"max 0 of 2": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 3, 4), 0))
		},
		"max 01 of 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 2, 3, 4), 0, 1))
		},
		"max 02 of 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 2, 3, 4), 0, 2))
		},
		"max 12 of 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 2, 3, 4), 1, 2))
		},
		"max 1 of 3 ones": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 1, 3, 1), 1))
		},
		"sum 1 of 3 ones": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Sum(g.Do(gorgonia.Max(values(g, 1, 3, 1, 2), 3)), 1))
		},
		"max 2 of 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 2, 3, 4), 2))
		},
		"slice 1 wide": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 3, 4, 2), nil, gorgonia.S(2)))
		},
		"slice last": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 3, 4, 2), nil, nil, gorgonia.S(1)))
		},
		"slice 2": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 3, 4, 2), gorgonia.S(1, 3), gorgonia.S(0, 2), gorgonia.S(1)))
		},
		"slice vec": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 6), gorgonia.S(1, 4)))
		},
		"slice 4d": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 2, 3, 4, 2), nil, gorgonia.S(1, 3), gorgonia.S(1)))
		},
		"slice rows": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 4, 3), gorgonia.S(1, 3)))
		},
		"matvec": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mul(values(g, 3, 4), g.Do(gorgonia.Tanh(g.Param("v", 4)))))
		},
		"matvec square": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mul(values(g, 4, 4), g.Do(gorgonia.Tanh(g.Param("v", 4)))))
		},
		"vecmat square": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mul(g.Do(gorgonia.Tanh(g.Param("v", 4))), values(g, 4, 4)))
		},
		"vecmat": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mul(g.Do(gorgonia.Tanh(g.Param("v", 4))), values(g, 4, 3)))
		},
		"max between": func(g *G) *gorgonia.Node {
			a := values(g, 2, 3)
			return g.Do(gorgonia.MaxBetween(a, g.Do(gorgonia.Tanh(g.Param("v", 2, 3)))))
		},
		"one by one": func(g *G) *gorgonia.Node {
			a := values(g, 1, 1)
			return g.Do(gorgonia.HadamardProd(a, g.Do(gorgonia.Tanh(g.Param("v", 1, 1)))))
		},
		"mat 1x1": func(g *G) *gorgonia.Node {
			a := values(g, 1, 1)
			return g.Do(gorgonia.Mul(a, g.Do(gorgonia.Tanh(g.Param("v", 1, 1)))))
		},
		"mat 1xk": func(g *G) *gorgonia.Node {
			a := values(g, 1, 3)
			return g.Do(gorgonia.Mul(a, g.Do(gorgonia.Tanh(g.Param("v", 3, 1)))))
		},
		"mat kx1": func(g *G) *gorgonia.Node {
			a := values(g, 3, 1)
			return g.Do(gorgonia.Mul(a, g.Do(gorgonia.Tanh(g.Param("v", 1, 3)))))
		},
		"broadcast both": func(g *G) *gorgonia.Node {
			a := g.Do(gorgonia.Tanh(values(g, 3, 1)))
			return g.Do(gorgonia.BroadcastHadamardProd(a, g.Do(gorgonia.Tanh(g.Param("v", 1, 4))), []byte{1}, []byte{0}))
		},
		"pool multi": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.MaxPool2D(g.Do(gorgonia.Reshape(g.Do(gorgonia.Max(values(g, 3, 5, 5, 2), 3)), tensor.Shape{1, 3, 5, 5})), tensor.Shape{3, 2}, []int{1, 1}, []int{2, 1}))
		},
		"norm": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Norm(values(g, 3, 4), 1, 2))
		},
		"conv computed": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Conv2d(values(g, 1, 2, 5, 4), g.Do(gorgonia.Tanh(g.Param("f", 3, 2, 2, 3))), tensor.Shape{2, 3}, []int{1, 1}, []int{2, 1}, []int{1, 1}))
		},
		"conv 1d": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Conv1d(values(g, 1, 2, 1, 5), g.Do(gorgonia.Tanh(g.Param("f", 3, 2, 1, 3))), 3, 1, 2, 1))
		},
		"leaky": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.LeakyRelu(g.Do(gorgonia.Max(values(g, 3, 5, 2), 2)), 0.1))
		},
		"mish": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Mish(g.Do(gorgonia.Max(values(g, 3, 5), 1))))
		},
		"transpose 3": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Transpose(g.Do(gorgonia.Max(values(g, 3, 5, 2, 2), 3)), 2, 0, 1))
		},
		"transpose 4": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Transpose(g.Do(gorgonia.Concat(0, values(g, 3, 1, 2, 2))), 2, 0, 3, 1))
		},
	} {
		out[name] = Graph{41, func(g *G) (compile.Source, error) {
			n := draw(g)
			weight := g.Do(gorgonia.Sin(g.Param("weight", n.Shape()...)))
			return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Tanh(n)), weight)))))
		}}
	}
	return out
}
