package enginetest

import (
	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Lone returns graphs for a batch of one, whose layouts would mix samples in a larger batch, or whose nodes don't have
// the batch as their first axis.
func Lone() map[string]Graph {
	product := func(g *G, rows, columns int) *gorgonia.Node {
		return g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, rows*columns)))
	}
	matrix := func(g *G, rows, columns int) *gorgonia.Node {
		return g.Do(gorgonia.Reshape(product(g, rows, columns), tensor.Shape{rows, columns}))
	}
	image := func(g *G, shape ...int) *gorgonia.Node {
		size := tensor.Shape(shape).TotalSize()
		return g.Do(gorgonia.Reshape(product(g, 1, size), append(tensor.Shape{1}, shape...)))
	}
	// cost closes a graph without an output, for nodes that don't have the batch as their first axis.
	cost := func(g *G, n *gorgonia.Node) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(n)))))
	}
	type build = func(g *G) (compile.Source, error)
	out := variants()
	for name, draw := range map[string]build{
		"largest of a row": func(g *G) (compile.Source, error) { return cost(g, g.Do(gorgonia.Max(product(g, 1, 6), 1))) },
		"largest of an inner axis": func(g *G) (compile.Source, error) {
			// Gorgonia's machine gets some inner maxima over four axes and more wrong: they are tested by hand.
			return cost(g, g.Do(gorgonia.Max(image(g, 3, 4), 1)))
		},
		"larger of two": func(g *G) (compile.Source, error) {
			h := product(g, 1, 6)
			return cost(g, g.Do(gorgonia.MaxBetween(h, g.Do(gorgonia.Square(h)))))
		},
		"smaller of two": func(g *G) (compile.Source, error) {
			h := product(g, 1, 6)
			return cost(g, g.Do(gorgonia.MinBetween(g.Do(gorgonia.Square(h)), h)))
		},
		"concatenated": func(g *G) (compile.Source, error) {
			h := product(g, 1, 6)
			return cost(g, g.Do(gorgonia.Concat(1, h, g.Do(gorgonia.Tanh(h)), g.Param("b", 1, 1))))
		},
		"concatenated on an inner axis": func(g *G) (compile.Source, error) {
			h := image(g, 2, 3, 4)
			return cost(g, g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Concat(2, h, g.Do(gorgonia.Tanh(h)))), g.Param("v", 1, 2, 6, 4))))
		},
		"gathered by indices": func(g *G) (compile.Source, error) {
			ids := gorgonia.NewConstant(tensor.New(tensor.WithShape(4), tensor.WithBacking([]int{2, 0, 2, 1})))
			return cost(g, g.Do(gorgonia.HadamardProd(g.Do(gorgonia.ByIndices(matrix(g, 3, 2), ids, 0)), g.Param("v", 4, 2))))
		},
		"rows of a table that is computed": func(g *G) (compile.Source, error) {
			e := g.Do(gorgonia.Tanh(g.Param("e", 4, 3)))
			return cost(g, g.gather(e, g.Ids("ids", 6), 6))
		},
		"rows of a table that is turned around": func(g *G) (compile.Source, error) {
			e := g.Do(gorgonia.Transpose(g.Param("e", 3, 4)))
			return cost(g, g.Do(gorgonia.Tanh(g.gather(e, g.Ids("ids", 6), 6))))
		},
		"upsampled": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Upsample2D(image(g, 2, 2, 3), 2))
			return cost(g, g.Do(gorgonia.HadamardProd(h, g.Param("v", 1, 2, 4, 6))))
		},
		"vector times matrix": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Reshape(product(g, 1, 6), tensor.Shape{6}))
			return cost(g, g.Do(gorgonia.Mul(h, g.Param("v", 6, 2))))
		},
		"matrix times vector, both of the sample": func(g *G) (compile.Source, error) {
			h := matrix(g, 2, 3)
			return cost(g, g.Do(gorgonia.Mul(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Tanh(h)), 0)))))
		},
		"attention": func(g *G) (compile.Source, error) {
			x, q, k := g.In("x", 3, 4), g.Param("q", 4, 2), g.Param("k", 4, 2)
			rows := g.Do(gorgonia.Reshape(x, tensor.Shape{3, 4}))
			head := func(w *gorgonia.Node) *gorgonia.Node {
				return g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(rows, w)), tensor.Shape{1, 3, 2}))
			}
			scores := g.Do(gorgonia.BatchedMatMul(head(q), g.Do(gorgonia.Transpose(head(k), 0, 2, 1))))
			return cost(g, g.Do(gorgonia.BatchedMatMul(g.Do(gorgonia.SoftMax(scores)), head(k))))
		},
		"windows by themselves": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Im2Col(image(g, 2, 4, 5), tensor.Shape{2, 3}, tensor.Shape{1, 0}, tensor.Shape{1, 2}, tensor.Shape{2, 1}))
			return cost(g, g.Do(gorgonia.Tanh(h)))
		},
		"pooled after a filter that is computed": func(g *G) (compile.Source, error) {
			x, w := g.In("x", 1, 5, 5), g.Do(gorgonia.Tanh(g.Param("w", 2, 1, 2, 2)))
			h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
			return cost(g, g.Do(gorgonia.MaxPool2D(h, tensor.Shape{2, 2}, []int{1, 0}, []int{2, 1})))
		},
		"sliced on an inner axis": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Slice(g.Do(gorgonia.Max(image(g, 2, 3, 4), 1)), nil, gorgonia.S(1, 3), nil))
			return cost(g, h)
		},
		"log softmax of a matrix": func(g *G) (compile.Source, error) {
			return cost(g, g.Do(gorgonia.HadamardProd(g.Do(gorgonia.LogSoftMax(matrix(g, 3, 4))), g.Do(gorgonia.Tanh(g.Param("v", 3, 4))))))
		},
		"steps": func(g *G) (compile.Source, error) {
			h := product(g, 1, 6)
			steps := g.Do(gorgonia.Add(g.Do(gorgonia.Sign(h)), g.Do(gorgonia.Add(g.Do(gorgonia.Ceil(h)), g.Do(gorgonia.Floor(h))))))
			return cost(g, g.Do(gorgonia.Max(g.Do(gorgonia.HadamardProd(h, steps)), 1)))
		},
		"transposed": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Transpose(product(g, 1, 6)))
			return cost(g, g.Do(gorgonia.Mul(h, g.Param("v", 1, 2))))
		},
		"mean of a column": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Transpose(product(g, 1, 6)))
			h = g.Do(gorgonia.BroadcastAdd(h, g.Param("b", 1, 1), nil, []byte{0}))
			return g.Done(nil, g.Do(gorgonia.Mean(g.Do(gorgonia.Tanh(h)))))
		},
		"column convention": func(g *G) (compile.Source, error) {
			x := g.Do(gorgonia.Transpose(g.In("x", 4)))
			h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(g.Do(gorgonia.Mul(g.Param("w", 3, 4), x)), g.Param("b", 3, 1)))))
			return cost(g, g.Do(gorgonia.Mul(g.Param("v", 2, 3), h)))
		},
		"an image's axes turned around": func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Transpose(image(g, 2, 3, 4), 2, 0, 3, 1))
			return cost(g, g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(h, tensor.Shape{1, 24})), g.Param("v", 24, 2))))
		},
		"a function of a parameter": func(g *G) (compile.Source, error) {
			w := g.Do(gorgonia.Tanh(g.Param("w", 4, 3)))
			return g.Squares(g.Do(gorgonia.Mul(g.In("x", 4), w)))
		},
	} {
		out[name] = Graph{40, draw}
	}
	return out
}
