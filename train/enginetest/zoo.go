package enginetest

import (
	"maps"
	"math/rand/v2"

	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// G builds small graphs by chaining operations; the first error sticks.
type G struct {
	Graph  *gorgonia.ExprGraph
	Batch  int
	random *rand.Rand
	src    compile.Source
	err    error
}

// NewG starts a graph whose parameters are drawn from a seed.
func NewG(batch int, seed uint64) *G {
	return &G{Graph: gorgonia.NewGraph(), Batch: batch, random: rand.New(rand.NewPCG(seed, 9))}
}

// In adds an input of the given shape for one sample.
func (g *G) In(name string, shape ...int) *gorgonia.Node {
	shape = append([]int{g.Batch}, shape...)
	n := gorgonia.NewTensor(g.Graph, tensor.Float32, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
	g.src.Inputs = append(g.src.Inputs, n)
	return n
}

// Param adds a parameter with values from U(-0.5, 0.5); no shape makes a scalar.
func (g *G) Param(name string, shape ...int) *gorgonia.Node {
	if len(shape) == 0 {
		n := gorgonia.NewScalar(g.Graph, tensor.Float32, gorgonia.WithName(name), gorgonia.WithValue(g.random.Float32()-0.5))
		g.src.Params = append(g.src.Params, n)
		return n
	}
	values := make([]float32, tensor.Shape(shape).TotalSize())
	for i := range values {
		values[i] = g.random.Float32() - 0.5
	}
	n := gorgonia.NewTensor(g.Graph, tensor.Float32, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))))
	g.src.Params = append(g.src.Params, n)
	return n
}

// Do takes the result of a Gorgonia operation, keeping the first error.
func (g *G) Do(n *gorgonia.Node, err error) *gorgonia.Node {
	if g.err == nil && err != nil {
		g.err = err
	}
	if g.err != nil {
		// Any node keeps the chain going; Done returns the error.
		return g.src.Inputs[0]
	}
	return n
}

// Done closes the graph with a cost.
func (g *G) Done(output, cost *gorgonia.Node) (compile.Source, error) {
	g.src.Output, g.src.Cost = output, cost
	return g.src, g.err
}

// Squares closes the graph with the sum of the squares of a node's elements.
func (g *G) Squares(n *gorgonia.Node) (compile.Source, error) {
	return g.Done(n, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(n)))))
}

// Zoo returns one graph for each thing that a rule must get right, and the models.
func Zoo() map[string]Builder {
	all := maps.Clone(shapes)
	maps.Copy(all, functions())
	for _, name := range models.Names() {
		all[name] = func(batch int) (compile.Source, error) {
			n, err := models.New(name, rand.NewPCG(1, 2), models.Options{Batch: batch})
			return compile.Source(n), err
		}
	}
	return all
}

var shapes = map[string]Builder{
	"weight used twice": func(batch int) (compile.Source, error) {
		g := NewG(batch, 1)
		x, w := g.In("x", 6), g.Param("w", 6, 6)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Mul(h, w)))
	},
	"weight and its transpose": func(batch int) (compile.Source, error) {
		g := NewG(batch, 2)
		x, w := g.In("x", 6), g.Param("w", 6, 4)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Transpose(w)))))
	},
	"bias used twice": func(batch int) (compile.Source, error) {
		g := NewG(batch, 3)
		x, w, b := g.In("x", 5), g.Param("w", 5, 5), g.Param("b", 1, 5)
		h := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), b, nil, []byte{0}))))
		return g.Squares(g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0})))
	},
	"scale by a parameter": func(batch int) (compile.Source, error) {
		g := NewG(batch, 4)
		x, w, s := g.In("x", 5), g.Param("w", 5, 4), g.Param("s", 1, 4)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.BroadcastHadamardProd(h, s, nil, []byte{0})))
	},
	"minus a parameter, from the left": func(batch int) (compile.Source, error) {
		g := NewG(batch, 5)
		x, w, b := g.In("x", 5), g.Param("w", 5, 4), g.Param("b", 1, 4)
		return g.Squares(g.Do(gorgonia.BroadcastSub(b, g.Do(gorgonia.Mul(x, w)), []byte{0}, nil)))
	},
	"residual": func(batch int) (compile.Source, error) {
		g := NewG(batch, 6)
		x, w, v := g.In("x", 5), g.Param("w", 5, 5), g.Param("v", 5, 5)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Add(h, g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(h, v)))))))
	},
	"a value added to itself": func(batch int) (compile.Source, error) {
		g := NewG(batch, 7)
		x, w := g.In("x", 5), g.Param("w", 5, 3)
		h := g.Do(gorgonia.Mul(x, w))
		return g.Squares(g.Do(gorgonia.Add(h, h)))
	},
	"two rows within a sample": func(batch int) (compile.Source, error) {
		g := NewG(batch, 8)
		x, w := g.In("x", 2, 40), g.Param("w", 40, 30)
		flat := g.Do(gorgonia.Reshape(x, tensor.Shape{batch * 2, 40}))
		return g.rows(g.Do(gorgonia.Mul(flat, w)), 60)
	},
	"many rows within a sample": func(batch int) (compile.Source, error) {
		g := NewG(batch, 9)
		x, w, b := g.In("x", 9, 3), g.Param("w", 3, 2), g.Param("b", 1, 2)
		flat := g.Do(gorgonia.Reshape(x, tensor.Shape{batch * 9, 3}))
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(flat, w)), b, nil, []byte{0}))))
		return g.rows(h, 18)
	},
	"matrix times vector": func(batch int) (compile.Source, error) {
		g := NewG(batch, 10)
		x, w := g.In("x", 6), g.Param("w", 6)
		return g.Squares(g.Do(gorgonia.Mul(x, w)))
	},
	"convolutions with stride, padding and dilation": func(batch int) (compile.Source, error) {
		g := NewG(batch, 11)
		x, w, v, b := g.In("x", 2, 9, 8), g.Param("w", 3, 2, 3, 2), g.Param("v", 2, 3, 2, 2), g.Param("b", 1, 3, 1, 1)
		h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{3, 2}, []int{1, 0}, []int{2, 1}, []int{1, 2}))
		h = g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0, 2, 3}))))
		h = g.Do(gorgonia.Conv2d(h, v, tensor.Shape{2, 2}, []int{0, 1}, []int{1, 2}, []int{1, 1}))
		return g.Squares(h)
	},
	"the same filter twice": func(batch int) (compile.Source, error) {
		g := NewG(batch, 12)
		x, w := g.In("x", 2, 6, 6), g.Param("w", 2, 2, 3, 3)
		conv := func(x *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Conv2d(x, w, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		}
		return g.Squares(conv(g.Do(gorgonia.Tanh(conv(x)))))
	},
	"max-pool with overlap and padding": func(batch int) (compile.Source, error) {
		g := NewG(batch, 13)
		x, w := g.In("x", 1, 7, 7), g.Param("w", 2, 1, 2, 2)
		h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		return g.Squares(g.Do(gorgonia.MaxPool2D(h, tensor.Shape{3, 3}, []int{1, 1}, []int{2, 2})))
	},
	"softmax, sums within a sample, negated cost": func(batch int) (compile.Source, error) {
		g := NewG(batch, 14)
		x, w := g.In("x", 5), g.Param("w", 5, 4)
		p := g.Do(gorgonia.SoftMax(g.Do(gorgonia.Mul(x, w))))
		q := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(p)), 1))
		cost := g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(q))))
		return g.Done(p, g.Do(gorgonia.Mul(cost, gorgonia.NewConstant(float32(3)))))
	},
	"two costs": func(batch int) (compile.Source, error) {
		g := NewG(batch, 15)
		x, y, w := g.In("x", 5), g.In("y", 3), g.Param("w", 5, 3)
		h := g.Do(gorgonia.Mul(x, w))
		a := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Sub(h, y))))))
		b := g.Do(gorgonia.Sum(g.Do(gorgonia.Exp(h))))
		return g.Done(h, g.Do(gorgonia.Sub(a, b)))
	},
	"the same value in two costs": func(batch int) (compile.Source, error) {
		g := NewG(batch, 26)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 3)))))
		half := g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(h)), gorgonia.NewConstant(float32(0.5))))
		return g.Done(h, g.Do(gorgonia.Sub(g.Do(gorgonia.Sum(h)), half)))
	},
	"a value in its own cost twice": func(batch int) (compile.Source, error) {
		g := NewG(batch, 27)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 3)))))
		s := g.Do(gorgonia.Sum(h))
		return g.Done(h, g.Do(gorgonia.Add(s, s)))
	},
	"an input as the output": func(batch int) (compile.Source, error) {
		g := NewG(batch, 28)
		x := g.In("x", 5)
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Mul(x, g.Param("w", 5, 3)))))))
		return g.Done(x, cost)
	},
	"a parameter without use": func(batch int) (compile.Source, error) {
		g := NewG(batch, 29)
		x, w := g.In("x", 5), g.Param("w", 5, 3)
		g.Param("idle", 4)
		return g.Squares(g.Do(gorgonia.Mul(x, w)))
	},
	"broadcast over an inner axis": func(batch int) (compile.Source, error) {
		g := NewG(batch, 30)
		x, v := g.In("x", 2, 3, 4), g.Param("v", 1, 2, 1, 4)
		return g.Squares(g.Do(gorgonia.BroadcastHadamardProd(x, v, nil, []byte{0, 2})))
	},
	"rectifier": func(batch int) (compile.Source, error) {
		g := NewG(batch, 16)
		x, w, v := g.In("x", 5), g.Param("w", 5, 6), g.Param("v", 6, 2)
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Rectify(g.Do(gorgonia.Mul(x, w)))), v)))
	},
	"slices within a sample": func(batch int) (compile.Source, error) {
		g := NewG(batch, 19)
		h := g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))
		a := g.Do(gorgonia.Slice(h, nil, gorgonia.S(0, 4)))
		b := g.Do(gorgonia.Slice(h, nil, gorgonia.S(2, 6)))
		return g.Squares(g.Do(gorgonia.HadamardProd(a, b)))
	},
	"mean within a sample": func(batch int) (compile.Source, error) {
		g := NewG(batch, 24)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))))
		return g.Squares(g.Do(gorgonia.Mean(h, 1)))
	},
	"a scalar parameter": func(batch int) (compile.Source, error) {
		g := NewG(batch, 25)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Param("s"))))
	},
	"transposed within a sample": func(batch int) (compile.Source, error) {
		g := NewG(batch, 17)
		x, w := g.In("x", 2, 3, 4), g.Param("w", 24, 3)
		h := g.Do(gorgonia.Transpose(g.Do(gorgonia.Tanh(x)), 0, 2, 3, 1))
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(h, tensor.Shape{batch, 24})), w)))
	},
}

// rows closes a graph whose last value has several rows for each sample.
func (g *G) rows(h *gorgonia.Node, perSample int) (compile.Source, error) {
	cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))
	return g.Done(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, perSample})), cost)
}

// functions returns a graph for every elementwise function, so that none is taken for another: Gorgonia's
// own numbering is read by reflection. Arguments are kept where the function and its slope are finite.
func functions() map[string]Builder {
	type unary = func(*gorgonia.Node) (*gorgonia.Node, error)
	positive := func(f unary) unary {
		return func(n *gorgonia.Node) (*gorgonia.Node, error) {
			n, err := gorgonia.Exp(n)
			if err != nil {
				return nil, err
			}
			return f(n)
		}
	}
	out := map[string]Builder{}
	for name, f := range map[string]unary{
		"abs": gorgonia.Abs, "sin": gorgonia.Sin, "cos": gorgonia.Cos, "exp": gorgonia.Exp, "neg": gorgonia.Neg,
		"square": gorgonia.Square, "cube": gorgonia.Cube, "tanh": gorgonia.Tanh, "sigmoid": gorgonia.Sigmoid,
		"expm1": gorgonia.Expm1, "softplus": gorgonia.Softplus,
		"ln": positive(gorgonia.Log), "log2": positive(gorgonia.Log2), "sqrt": positive(gorgonia.Sqrt),
		"inverse": positive(gorgonia.Inverse), "inverse sqrt": positive(gorgonia.InverseSqrt), "log1p": positive(gorgonia.Log1p),
	} {
		out["function "+name] = func(batch int) (compile.Source, error) {
			g := NewG(batch, 20)
			h := g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 5)))
			return g.Squares(g.Do(f(h)))
		}
	}
	type binary = func(a, b *gorgonia.Node) (*gorgonia.Node, error)
	for name, f := range map[string]binary{
		"add": gorgonia.Add, "sub": gorgonia.Sub, "mul": gorgonia.HadamardProd, "div": gorgonia.HadamardDiv, "pow": gorgonia.Pow,
		// A comparison by itself has no gradient: it switches another value on and off, as rectifiers do.
		"lt":  switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Lt(a, b, true) }),
		"gt":  switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Gt(a, b, true) }),
		"lte": switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Lte(a, b, true) }),
		"gte": switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Gte(a, b, true) }),
	} {
		positive := func(g *G, x *gorgonia.Node, weight string) *gorgonia.Node {
			return g.Do(gorgonia.Exp(g.Do(gorgonia.Mul(x, g.Param(weight, 4, 5)))))
		}
		out["function "+name] = func(batch int) (compile.Source, error) {
			g := NewG(batch, 21)
			x := g.In("x", 4)
			a, b := positive(g, x, "w"), positive(g, x, "v")
			// The second term lets a comparison's second operand have a gradient too.
			c := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(b))))
			return g.Done(a, g.Do(gorgonia.Add(c, g.Do(gorgonia.Sum(g.Do(f(a, b)))))))
		}
		out["function "+name+" by a number"] = func(batch int) (compile.Source, error) {
			g := NewG(batch, 22)
			return g.Squares(g.Do(f(positive(g, g.In("x", 4), "w"), gorgonia.NewConstant(float32(1.5)))))
		}
		out["function "+name+" of a number"] = func(batch int) (compile.Source, error) {
			g := NewG(batch, 23)
			return g.Squares(g.Do(f(gorgonia.NewConstant(float32(0.7)), positive(g, g.In("x", 4), "w"))))
		}
	}
	return out
}

// switched multiplies an operand by a comparison of both.
func switched(compare func(a, b *gorgonia.Node) (*gorgonia.Node, error)) func(a, b *gorgonia.Node) (*gorgonia.Node, error) {
	return func(a, b *gorgonia.Node) (*gorgonia.Node, error) {
		on, err := compare(a, b)
		if err != nil {
			return nil, err
		}
		if a.IsScalar() {
			return gorgonia.HadamardProd(b, on)
		}
		return gorgonia.HadamardProd(a, on)
	}
}
