package enginetest

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// joined returns graphs that take values of a sample apart and put them together: products of two of them, parts,
// maxima, normalisation. Results are weighted, so that a gradient at the wrong position shows.
func joined() map[string]Graph {
	values := func(g *G, shape ...int) *gorgonia.Node {
		size := tensor.Shape(shape).TotalSize()
		h := g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, size)))
		return g.Do(gorgonia.Reshape(h, append(tensor.Shape{g.Batch}, shape...)))
	}
	bend := func(g *G, n *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Tanh(n)) }
	out := map[string]Graph{}
	for name, draw := range map[string]func(g *G) *gorgonia.Node{
		"concatenated": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			return g.Do(gorgonia.Concat(1, h, bend(g, h), g.In("z", 1)))
		},
		"concatenated on an inner axis": func(g *G) *gorgonia.Node {
			h := values(g, 2, 3, 4)
			return g.Do(gorgonia.Concat(2, h, bend(g, h), h))
		},
		"concatenated with itself": func(g *G) *gorgonia.Node {
			h := values(g, 3, 1)
			return bend(g, g.Do(gorgonia.Concat(2, h, h)))
		},
		"upsampled":         func(g *G) *gorgonia.Node { return g.Do(gorgonia.Upsample2D(values(g, 2, 2, 3), 3)) },
		"averaged globally": func(g *G) *gorgonia.Node { return g.Do(gorgonia.GlobalAveragePool2D(bend(g, values(g, 3, 2, 4)))) },
		"several images upsampled": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Upsample2D(g.Do(gorgonia.Reshape(values(g, 12), tensor.Shape{g.Batch * 3, 2, 2, 1})), 2))
		},
		"several images averaged globally": func(g *G) *gorgonia.Node {
			h := g.Do(gorgonia.Reshape(values(g, 36), tensor.Shape{g.Batch * 3, 2, 3, 2}))
			return g.Do(gorgonia.Reshape(g.Do(gorgonia.GlobalAveragePool2D(bend(g, h))), tensor.Shape{g.Batch, 6}))
		},
		"largest of a row":   func(g *G) *gorgonia.Node { return g.Do(gorgonia.Max(values(g, 6), 1)) },
		"largest of columns": func(g *G) *gorgonia.Node { return g.Do(gorgonia.Max(values(g, 3, 4), 1)) },
		"largest of outer and inner": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Max(values(g, 3, 2, 4), 1, 3))
		},
		"largest of two axes": func(g *G) *gorgonia.Node { return g.Do(gorgonia.Max(values(g, 2, 3, 4), 2, 3)) },
		"largest of equals": func(g *G) *gorgonia.Node {
			h := values(g, 3)
			return g.Do(gorgonia.Max(g.Do(gorgonia.Concat(1, h, h, h)), 1))
		},
		"larger and smaller of two": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			s := g.Do(gorgonia.Square(h))
			return g.Do(gorgonia.Add(g.Do(gorgonia.MaxBetween(h, s)), bend(g, g.Do(gorgonia.MinBetween(s, bend(g, h))))))
		},
		"larger of equals": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			return g.Do(gorgonia.Add(g.Do(gorgonia.MaxBetween(h, h)), g.Do(gorgonia.MinBetween(bend(g, h), bend(g, h)))))
		},
		"product of a sample's own": func(g *G) *gorgonia.Node {
			h := values(g, 2, 3, 4)
			return g.Do(gorgonia.BatchedMatMul(h, bend(g, g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 2, 4, 3})))))
		},
		"product of its own, left turned": func(g *G) *gorgonia.Node {
			h := values(g, 5, 3)
			return g.Do(gorgonia.BatchedMatMul(h, bend(g, h), true))
		},
		"product of its own, right turned": func(g *G) *gorgonia.Node {
			h := values(g, 5, 3)
			return g.Do(gorgonia.BatchedMatMul(h, h, false, true))
		},
		"product of its own, both turned": func(g *G) *gorgonia.Node {
			h := values(g, 5, 3)
			return g.Do(gorgonia.BatchedMatMul(h, bend(g, g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 3, 5}))), true, true))
		},
		"products of its own, both turned": func(g *G) *gorgonia.Node {
			h := values(g, 2, 5, 3)
			return g.Do(gorgonia.BatchedMatMul(h, bend(g, g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 2, 3, 5}))), true, true))
		},
		"steps": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			steps := g.Do(gorgonia.Add(g.Do(gorgonia.Sign(h)), g.Do(gorgonia.Add(g.Do(gorgonia.Ceil(bend(g, h))), g.Do(gorgonia.Floor(h))))))
			return g.Do(gorgonia.HadamardProd(h, steps))
		},
		"equal steps": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			a, b := g.Do(gorgonia.Sign(h)), g.Do(gorgonia.Sign(g.In("y", 6)))
			equal, unequal := g.Do(gorgonia.Eq(a, b, true)), g.Do(gorgonia.Ne(b, a, true))
			return g.Do(gorgonia.Add(g.Do(gorgonia.HadamardProd(h, equal)), g.Do(gorgonia.HadamardProd(bend(g, h), unequal))))
		},
		"product of rows of samples": func(g *G) *gorgonia.Node {
			h := g.Do(gorgonia.Reshape(values(g, 4, 3), tensor.Shape{g.Batch * 2, 2, 3}))
			h = g.Do(gorgonia.BatchedMatMul(h, bend(g, h), false, true))
			return g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 8}))
		},
		"product of an input with itself": func(g *G) *gorgonia.Node {
			x := g.In("x", 2, 3)
			h := g.Do(gorgonia.Reshape(g.Do(gorgonia.BatchedMatMul(x, x, true)), tensor.Shape{g.Batch, 9}))
			return g.Do(gorgonia.Mul(h, g.Param("w", 9, 2)))
		},
		// An engine may take four terms of both rows at once, if both are aligned. Columns of data begin anywhere.
		"products of rows of four": func(g *G) *gorgonia.Node {
			one := g.Do(gorgonia.Reshape(g.In("one", 1), tensor.Shape{g.Batch, 1, 1}))
			y := g.In("y", 4, 4)
			h := g.Do(gorgonia.BroadcastAdd(values(g, 4, 4), one, nil, []byte{1, 2}))
			return g.Do(gorgonia.Add(g.Do(gorgonia.BatchedMatMul(h, h, false, true)), g.Do(gorgonia.BatchedMatMul(h, y, false, true))))
		},
		"attention of two heads": func(g *G) *gorgonia.Node {
			const tokens, width, heads = 3, 4, 2
			rows := g.Do(gorgonia.Reshape(g.In("x", tokens, width), tensor.Shape{g.Batch * tokens, width}))
			head := func(name string) *gorgonia.Node {
				h := g.Do(gorgonia.Mul(rows, g.Param(name, width, width)))
				h = g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, tokens, heads, width / heads}))
				return g.Do(gorgonia.Transpose(h, 0, 2, 1, 3))
			}
			scores := g.Do(gorgonia.BatchedMatMul(head("q"), head("k"), false, true))
			h := g.Do(gorgonia.BatchedMatMul(g.Do(gorgonia.SoftMax(scores)), head("v")))
			h = g.Do(gorgonia.Reshape(g.Do(gorgonia.Transpose(h, 0, 2, 1, 3)), tensor.Shape{g.Batch * tokens, width}))
			return g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(h, g.Param("o", width, 3))), tensor.Shape{g.Batch, tokens, 3}))
		},
		"softmax on an inner axis": func(g *G) *gorgonia.Node { return g.Do(gorgonia.SoftMax(values(g, 3, 2, 4), 1)) },
		"log softmax on an inner axis": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Exp(g.Do(gorgonia.LogSoftMax(values(g, 3, 2, 4), 2))))
		},
		"slices with a step": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Slice(values(g, 7, 3), nil, gorgonia.S(1, 7, 2), gorgonia.S(2)))
		},
		"windows by themselves": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.Im2Col(values(g, 2, 4, 5), tensor.Shape{2, 3}, tensor.Shape{1, 0}, tensor.Shape{1, 2}, tensor.Shape{2, 1}))
		},
		"normalised in groups": func(g *G) *gorgonia.Node {
			return g.Do(gorgonia.GroupNorm(values(g, 4, 3, 3), g.Param("s", 1, 4, 1, 1), g.Param("b", 1, 4, 1, 1), 2, 4, 0.01))
		},
		"normalised rows": func(g *G) *gorgonia.Node {
			h := g.Do(gorgonia.Reshape(values(g, 3, 5), tensor.Shape{g.Batch * 3, 5}))
			h = layerNorm(g, h, false)
			return g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 3, 5}))
		},
		"normalised rows, by an inverse root": func(g *G) *gorgonia.Node { return layerNorm(g, values(g, 6), true) },
		"normalised beside its operand": func(g *G) *gorgonia.Node {
			h := values(g, 6)
			return g.Do(gorgonia.Add(h, g.Do(gorgonia.Add(layerNorm(g, h, false), layerNorm(g, bend(g, h), false)))))
		},
		"residual of a filter that is computed": func(g *G) *gorgonia.Node {
			h := values(g, 2, 4, 5)
			return g.Do(gorgonia.Add(h, g.Do(gorgonia.Conv2d(h, bend(g, g.Param("f", 2, 2, 3, 3)), tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))))
		},
	} {
		out[name] = Graph{60, func(g *G) (compile.Source, error) { return weighed(g, draw(g)) }}
	}
	out["dot product of two values"] = Graph{61, func(g *G) (compile.Source, error) {
		x := g.In("x", 4)
		a, b := g.Do(gorgonia.Mul(x, g.Param("a", 4))), g.Do(gorgonia.Mul(x, g.Param("b", 4)))
		return g.Done(a, g.Do(gorgonia.Mul(a, bend(g, b))))
	}}
	out["mean of costs"] = Graph{62, func(g *G) (compile.Source, error) {
		h := bend(g, values(g, 3, 2))
		return g.Done(h, g.Do(gorgonia.Mul(g.Number(3), g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)))))))
	}}
	return out
}

// layerNorm normalises rows as a graph spells it.
func layerNorm(g *G, h *gorgonia.Node, inverse bool) *gorgonia.Node {
	rows := h.Shape()[0]
	column := func(n *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Reshape(n, tensor.Shape{rows, 1})) }
	h = g.Do(gorgonia.BroadcastSub(h, column(g.Do(gorgonia.Mean(h, 1))), nil, []byte{1}))
	root := g.Do(gorgonia.Sqrt(g.Do(gorgonia.Add(g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)), 1)), g.Number(0.01)))))
	if inverse {
		return g.Do(gorgonia.BroadcastHadamardProd(h, column(g.Do(gorgonia.Inverse(root))), nil, []byte{1}))
	}
	return g.Do(gorgonia.BroadcastHadamardDiv(h, column(root), nil, []byte{1}))
}

// weighed closes a graph with a weighted sum of a bounded function of a node.
func weighed(g *G, n *gorgonia.Node) (compile.Source, error) {
	shape := n.Shape().Clone()
	size := shape.TotalSize() / g.Batch
	flat := g.Do(gorgonia.Reshape(n, tensor.Shape{g.Batch, size}))
	weights := make([]float32, size)
	for i := range weights {
		weights[i] = float32(i%7)/3 - 1.1
	}
	cost := g.Do(gorgonia.Mul(g.Do(gorgonia.Tanh(flat)), g.Constant("weights", weights, size, 1)))
	return g.Done(flat, g.Do(gorgonia.Sum(cost)))
}

// transformed returns graphs that use functions of parameters.
func transformed() map[string]Graph {
	mul := func(g *G, x, w *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Mul(x, w)) }
	out := map[string]Graph{}
	for name, draw := range map[string]func(g *G, x *gorgonia.Node) *gorgonia.Node{
		"a function of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.Tanh(g.Param("w", 6, 3))))
		},
		"a function of a bias": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			b := g.Do(gorgonia.Exp(g.Param("b", 1, 6)))
			return g.Do(gorgonia.BroadcastHadamardProd(x, b, nil, []byte{0}))
		},
		"a function of a number": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Mul(mul(g, x, g.Param("w", 6, 2)), g.Do(gorgonia.Exp(g.Param("s")))))
		},
		"a weight of low rank": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, mul(g, g.Param("w", 6, 2), g.Param("v", 2, 5)))
		},
		"a weight of low rank, turned around": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.Transpose(mul(g, g.Param("w", 5, 2), g.Param("v", 2, 6)))))
		},
		"a weight of three factors": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, mul(g, mul(g, g.Param("w", 6, 3), g.Param("v", 3, 2)), g.Param("u", 2, 5)))
		},
		"a function of a product of weights": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.Tanh(mul(g, g.Param("w", 6, 2), g.Param("v", 2, 5)))))
		},
		"a product of weights and one of them": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w := g.Param("w", 6, 6)
			return g.Do(gorgonia.Add(mul(g, x, mul(g, w, g.Do(gorgonia.Tanh(w)))), mul(g, x, g.Do(gorgonia.Transpose(w)))))
		},
		"a power of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node { // a product of 32 matrices
			one := make([]float32, 36)
			for i := range 6 {
				one[7*i] = 1
			}
			w := g.Do(gorgonia.Mul(g.Param("w", 6, 6), g.Number(0.1)))
			w = g.Do(gorgonia.Add(w, gorgonia.NewConstant(g.value(one, []int{6, 6}))))
			for range 5 {
				w = mul(g, w, w)
			}
			return mul(g, x, w)
		},
		"a matrix times a vector of parameters": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, mul(g, g.Param("w", 6, 4), g.Param("v", 4)))
		},
		"a dot product of parameters": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Mul(x, mul(g, g.Param("w", 4), g.Param("v", 4))))
		},
		"weight normalisation": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w := g.Param("w", 6, 3)
			norms := g.Do(gorgonia.Sqrt(g.Do(gorgonia.Sum(g.Do(gorgonia.Square(w)), 0))))
			scale := g.Do(gorgonia.HadamardDiv(g.Param("g", 3), norms))
			w = g.Do(gorgonia.BroadcastHadamardProd(w, g.Do(gorgonia.Reshape(scale, tensor.Shape{1, 3})), nil, []byte{0}))
			return mul(g, x, w)
		},
		"a part of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.Slice(g.Param("w", 6, 5), nil, gorgonia.S(1, 4))))
		},
		"two parts of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w := g.Param("w", 12, 4)
			a, b := g.Do(gorgonia.Slice(w, gorgonia.S(0, 6))), g.Do(gorgonia.Slice(w, gorgonia.S(6, 12)))
			return g.Do(gorgonia.HadamardProd(mul(g, x, a), mul(g, x, b)))
		},
		"a row of a parameter": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			row := g.Do(gorgonia.Slice(g.Param("w", 3, 6), gorgonia.S(1)))
			return g.Do(gorgonia.BroadcastHadamardProd(x, g.Do(gorgonia.Reshape(row, tensor.Shape{1, 6})), nil, []byte{0}))
		},
		"weights put together": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.Concat(1, g.Param("w", 6, 2), g.Do(gorgonia.Tanh(g.Param("v", 6, 3))))))
		},
		"a weight with axes turned around": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w := g.Do(gorgonia.Transpose(g.Param("w", 3, 2, 5), 1, 0, 2))
			return mul(g, x, g.Do(gorgonia.Reshape(w, tensor.Shape{6, 5})))
		},
		"a softmax of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.SoftMax(g.Param("w", 6, 3), 0)))
		},
		"a log softmax of a weight": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			return mul(g, x, g.Do(gorgonia.LogSoftMax(g.Param("w", 6, 3), 1)))
		},
		"functions of numbers and weights": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w, v := g.Param("w", 6, 3), g.Param("v", 6, 3)
			s := g.Do(gorgonia.Add(g.Do(gorgonia.HadamardDiv(w, g.Do(gorgonia.Exp(v)))), g.Number(0.5)))
			return mul(g, x, g.Do(gorgonia.MaxBetween(g.Do(gorgonia.Sub(g.Number(1), s)), v)))
		},
		"a weight where another is positive": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			w := g.Param("w", 6, 3)
			return mul(g, x, g.Do(gorgonia.HadamardProd(w, g.Do(gorgonia.Gt(g.Param("v", 6, 3), g.Number(0), true)))))
		},
		"a filter that is computed": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			f := g.Do(gorgonia.Tanh(g.Param("f", 2, 1, 2, 2)))
			h := g.Do(gorgonia.Conv2d(g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, 1, 2, 3})), f, tensor.Shape{2, 2}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
			return g.Do(gorgonia.Conv2d(h, f2(g), tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		},
		"a sum of a weight over an axis": func(g *G, x *gorgonia.Node) *gorgonia.Node {
			s := g.Do(gorgonia.Sum(g.Param("w", 3, 6, 2), 0, 2))
			return g.Do(gorgonia.BroadcastSub(x, g.Do(gorgonia.Reshape(s, tensor.Shape{1, 6})), nil, []byte{0}))
		},
	} {
		out[name] = Graph{63, func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("first", 5, 6)))))
			return weighed(g, draw(g, h))
		}}
	}
	for i, table := range []func(g *G) *gorgonia.Node{
		func(g *G) *gorgonia.Node { return g.Do(gorgonia.Tanh(g.Param("e", 4, 3))) },
		func(g *G) *gorgonia.Node { return g.Do(gorgonia.Transpose(g.Param("e", 3, 4))) },
		func(g *G) *gorgonia.Node { return g.Do(gorgonia.Mul(g.Param("e", 4, 2), g.Param("f", 2, 3))) },
	} {
		out[fmt.Sprintf("rows of table %d that is computed", i)] = Graph{64, func(g *G) (compile.Source, error) {
			return weighed(g, g.Do(gorgonia.Reshape(g.gather(table(g), g.Ids("ids", 6), 6), tensor.Shape{g.Batch, 6, 3})))
		}}
	}
	return out
}

// f2 returns a filter that is a part of a parameter.
func f2(g *G) *gorgonia.Node {
	f := g.Do(gorgonia.Slice(g.Param("f2", 2, 2, 3, 2), nil, nil, gorgonia.S(0, 2)))
	return f
}
