package enginetest

import (
	"fmt"
	"maps"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Graph is a graph of the zoo, for any batch size and in either precision.
type Graph struct {
	seed uint64
	draw func(g *G) (compile.Source, error)
}

// Build builds the graph in single precision, in which it is trained.
func (z Graph) Build(batch int) (compile.Source, error) { return z.draw(NewG(batch, z.seed)) }

// Program compiles the graph, built in single precision for a batch size.
func (z Graph) Program(t TB, batch int) *compile.Program {
	t.Helper()
	src, err := z.Build(batch)
	return compiled(t, src, err)
}

// compiled compiles a graph, or reports the error of building it.
func compiled(t TB, src compile.Source, err error) *compile.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Double builds the graph of one sample in double precision, with the same parameters.
func (z Graph) Double() (compile.Source, error) {
	g := NewG(1, z.seed)
	g.dtype = tensor.Float64
	return z.draw(g)
}

// Zoo returns one graph for each thing that a rule must get right, and the paper's networks, the one of texts with
// small shapes.
func Zoo() map[string]Graph {
	all := maps.Clone(shapes)
	maps.Copy(all, functions())
	maps.Copy(all, convolutions())
	maps.Copy(all, poolings())
	maps.Copy(all, lookups)
	maps.Copy(all, droppings)
	maps.Copy(all, joined())
	maps.Copy(all, transformed())
	maps.Copy(all, written)
	maps.Copy(all, networks)
	return all
}

var shapes = map[string]Graph{
	"weight used twice": {1, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 6), g.Param("w", 6, 6)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Mul(h, w)))
	}},
	"filter in two shapes": {2, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 1, 4, 5), g.Param("w", 2, 1, 1, 3)
		once := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{1, 3}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		again := g.Do(gorgonia.Conv2d(x, g.Do(gorgonia.Reshape(w, tensor.Shape{1, 1, 2, 3})), tensor.Shape{2, 3}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(once))))
		return g.Done(once, g.Do(gorgonia.Add(cost, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(again)))))))
	}},
	"weight and its transpose": {2, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 6), g.Param("w", 6, 4)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Transpose(w)))))
	}},
	"bias used twice": {3, func(g *G) (compile.Source, error) {
		x, w, b := g.In("x", 5), g.Param("w", 5, 5), g.Param("b", 1, 5)
		h := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), b, nil, []byte{0}))))
		return g.Squares(g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0})))
	}},
	"scale by a parameter": {4, func(g *G) (compile.Source, error) {
		x, w, s := g.In("x", 5), g.Param("w", 5, 4), g.Param("s", 1, 4)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.BroadcastHadamardProd(h, s, nil, []byte{0})))
	}},
	"minus a parameter, from the left": {5, func(g *G) (compile.Source, error) {
		x, w, b := g.In("x", 5), g.Param("w", 5, 4), g.Param("b", 1, 4)
		return g.Squares(g.Do(gorgonia.BroadcastSub(b, g.Do(gorgonia.Mul(x, w)), []byte{0}, nil)))
	}},
	"residual": {6, func(g *G) (compile.Source, error) {
		x, w, v := g.In("x", 5), g.Param("w", 5, 5), g.Param("v", 5, 5)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Add(h, g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(h, v)))))))
	}},
	"a value added to itself": {7, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 5), g.Param("w", 5, 3)
		h := g.Do(gorgonia.Mul(x, w))
		return g.Squares(g.Do(gorgonia.Add(h, h)))
	}},
	"two rows within a sample": {8, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 2, 40), g.Param("w", 40, 30)
		flat := g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch * 2, 40}))
		return g.rows(g.Do(gorgonia.Mul(flat, w)), 60)
	}},
	"many rows within a sample": {9, func(g *G) (compile.Source, error) {
		x, w, b := g.In("x", 9, 3), g.Param("w", 3, 2), g.Param("b", 1, 2)
		flat := g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch * 9, 3}))
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(flat, w)), b, nil, []byte{0}))))
		return g.rows(h, 18)
	}},
	// Norms of more parameters than a GPU adds up side by side.
	"many parameters": {49, func(g *G) (compile.Source, error) {
		h := g.In("x", 5)
		for i := range 19 {
			b := g.Param(fmt.Sprintf("b%d", i), 1, 5)
			h = g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0}))))
		}
		return g.Squares(h)
	}},
	// Columns of data begin where those before them end, at any address.
	"rows behind a number": {53, func(g *G) (compile.Source, error) {
		a, x := g.In("a", 1), g.In("x", 8)
		h := g.Do(gorgonia.Add(g.Do(gorgonia.Mul(a, g.Param("v", 1, 4))), g.Do(gorgonia.Mul(x, g.Param("w", 8, 4)))))
		return g.Squares(g.Do(gorgonia.Tanh(h)))
	}},
	"matrix times vector": {10, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 6), g.Param("w", 6)
		return g.Squares(g.Do(gorgonia.Mul(x, w)))
	}},
	"convolutions with stride, padding and dilation": {11, func(g *G) (compile.Source, error) {
		x, w, v, b := g.In("x", 2, 9, 8), g.Param("w", 3, 2, 3, 2), g.Param("v", 2, 3, 2, 2), g.Param("b", 1, 3, 1, 1)
		h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{3, 2}, []int{1, 0}, []int{2, 1}, []int{1, 2}))
		h = g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(h, b, nil, []byte{0, 2, 3}))))
		h = g.Do(gorgonia.Conv2d(h, v, tensor.Shape{2, 2}, []int{0, 1}, []int{1, 2}, []int{1, 1}))
		return g.Squares(h)
	}},
	"the same filter twice": {12, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 2, 6, 6), g.Param("w", 2, 2, 3, 3)
		conv := func(x *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Conv2d(x, w, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		}
		return g.Squares(conv(g.Do(gorgonia.Tanh(conv(x)))))
	}},
	"max-pool with overlap and padding": {13, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 1, 7, 7), g.Param("w", 2, 1, 2, 2)
		h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		return g.Squares(g.Do(gorgonia.MaxPool2D(h, tensor.Shape{3, 3}, []int{1, 1}, []int{2, 2})))
	}},
	"softmax, sums within a sample, negated cost": {14, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 5), g.Param("w", 5, 4)
		p := g.Do(gorgonia.SoftMax(g.Do(gorgonia.Mul(x, w))))
		q := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(p)), 1))
		cost := g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(q))))
		return g.Done(p, g.Do(gorgonia.Mul(cost, g.Number(3))))
	}},
	"two costs": {15, func(g *G) (compile.Source, error) {
		x, y, w := g.In("x", 5), g.In("y", 3), g.Param("w", 5, 3)
		h := g.Do(gorgonia.Mul(x, w))
		a := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Sub(h, y))))))
		b := g.Do(gorgonia.Sum(g.Do(gorgonia.Exp(h))))
		return g.Done(h, g.Do(gorgonia.Sub(a, b)))
	}},
	"the same value in two costs": {26, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 3)))))
		half := g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(h)), g.Number(0.5)))
		return g.Done(h, g.Do(gorgonia.Sub(g.Do(gorgonia.Sum(h)), half)))
	}},
	"a value in its own cost twice": {27, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 3)))))
		s := g.Do(gorgonia.Sum(h))
		return g.Done(h, g.Do(gorgonia.Add(s, s)))
	}},
	"an input as the output": {28, func(g *G) (compile.Source, error) {
		x := g.In("x", 5)
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Mul(x, g.Param("w", 5, 3)))))))
		return g.Done(x, cost)
	}},
	"a parameter without use": {29, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 5), g.Param("w", 5, 3)
		g.Param("idle", 4)
		return g.Squares(g.Do(gorgonia.Mul(x, w)))
	}},
	"broadcast over an inner axis": {30, func(g *G) (compile.Source, error) {
		x, v := g.In("x", 2, 3, 4), g.Param("v", 1, 2, 1, 4)
		return g.Squares(g.Do(gorgonia.BroadcastHadamardProd(x, v, nil, []byte{0, 2})))
	}},
	"rectifier": {16, func(g *G) (compile.Source, error) {
		x, w, v := g.In("x", 5), g.Param("w", 5, 6), g.Param("v", 6, 2)
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Rectify(g.Do(gorgonia.Mul(x, w)))), v)))
	}},
	"slices within a sample": {19, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))
		a := g.Do(gorgonia.Slice(h, nil, gorgonia.S(0, 4)))
		b := g.Do(gorgonia.Slice(h, nil, gorgonia.S(2, 6)))
		return g.Squares(g.Do(gorgonia.HadamardProd(a, b)))
	}},
	"mean within a sample": {24, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))))
		return g.Squares(g.Do(gorgonia.Mean(h, 1)))
	}},
	"a scalar parameter": {25, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Param("s"))))
	}},
	"transposed within a sample": {17, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 2, 3, 4), g.Param("w", 24, 3)
		h := g.Do(gorgonia.Transpose(g.Do(gorgonia.Tanh(x)), 0, 2, 3, 1))
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 24})), w)))
	}},
	"logistic regression": {31, func(g *G) (compile.Source, error) {
		x, y, w, b := g.In("x", 3), g.In("y", 1), g.Param("w", 3, 1), g.Param("b", 1, 1)
		p := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), b, nil, []byte{0}))))
		return g.Done(p, g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(p, y)))))
	}},
	// Each BinaryXent takes a node out of the graph.
	"two binary cross-entropies": {32, func(g *G) (compile.Source, error) {
		x, y, z, w, v := g.In("x", 3), g.In("y", 2), g.In("z", 2), g.Param("w", 3, 2), g.Param("v", 3, 2)
		p := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(x, w))))
		q := g.Do(gorgonia.HadamardProd(p, g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(x, v))))))
		a := g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(q, y))))
		return g.Done(p, g.Do(gorgonia.Add(a, g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(p, z)))))))
	}},
	"normalised within a sample": {33, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 6)))
		column := func(n *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Reshape(n, tensor.Shape{g.Batch, 1})) }
		h = g.Do(gorgonia.BroadcastSub(h, column(g.Do(gorgonia.Mean(h, 1))), nil, []byte{1}))
		deviation := g.Do(gorgonia.Sqrt(g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)), 1))))
		h = g.Do(gorgonia.BroadcastHadamardDiv(h, column(deviation), nil, []byte{1}))
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastHadamardProd(h, g.Param("s", 1, 6), nil, []byte{0})))))
	}},
	"a product with a transposed parameter": {35, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 5), g.Param("w", 4, 5)
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, g.Do(gorgonia.Transpose(w, 1, 0)))))))
	}},
	"a product with a constant": {36, func(g *G) (compile.Source, error) {
		values := make([]float32, 20)
		for i := range values {
			values[i] = float32(i)/10 - 1
		}
		h := g.Do(gorgonia.Mul(g.In("x", 5), gorgonia.NewConstant(g.value(values, []int{5, 4}))))
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, g.Param("w", 4, 3))))))
	}},
	// The gradient through each softmax is added to an earlier one.
	"softmaxes beside their operands": {37, func(g *G) (compile.Source, error) {
		x := g.In("x", 5)
		h, k := g.Do(gorgonia.Mul(x, g.Param("w", 5, 4))), g.Do(gorgonia.Mul(x, g.Param("v", 5, 4)))
		soft := g.Do(gorgonia.Add(g.Do(gorgonia.SoftMax(h)), g.Do(gorgonia.Tanh(h))))
		logs := g.Do(gorgonia.Add(g.Do(gorgonia.Neg(g.Do(gorgonia.LogSoftMax(k)))), g.Do(gorgonia.Tanh(k))))
		return g.Squares(g.Do(gorgonia.Add(soft, logs)))
	}},
	// One value goes through two convolutions, a pooling and a scale, whose gradients are all added.
	"a value in many windows": {38, func(g *G) (compile.Source, error) {
		x, w, v, u := g.In("x", 1, 5, 5), g.Param("w", 2, 1, 1, 1), g.Param("v", 2, 2, 3, 3), g.Param("u", 2, 2, 3, 3)
		conv := func(x, w *gorgonia.Node, k, pad int) *gorgonia.Node {
			return g.Do(gorgonia.Conv2d(x, w, tensor.Shape{k, k}, []int{pad, pad}, []int{1, 1}, []int{1, 1}))
		}
		h := g.Do(gorgonia.Tanh(conv(x, w, 1, 0)))
		pool := g.Do(gorgonia.MaxPool2D(h, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}))
		both := g.Do(gorgonia.Add(conv(h, v, 3, 1), conv(h, u, 3, 1)))
		return g.Squares(g.Do(gorgonia.Add(pool, g.Do(gorgonia.Add(g.Do(gorgonia.Mul(g.Number(2), h)), both)))))
	}},
	"products with two constants": {45, func(g *G) (compile.Source, error) {
		h := g.In("x", 5)
		for i, shape := range [][]int{{5, 4}, {4, 3}} {
			values := make([]float32, shape[0]*shape[1])
			for k := range values {
				values[k] = float32(k%7)/float32(3+i) - 1
			}
			h = g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, gorgonia.NewConstant(g.value(values, shape))))))
		}
		return g.Squares(g.Do(gorgonia.Mul(h, g.Param("w", 3, 2))))
	}},
	// A prediction takes more memory of each kind than a gradient.
	"an output that isn't in the cost": {47, func(g *G) (compile.Source, error) {
		x := g.In("x", 1, 6, 6)
		values := make([]float32, 25*70)
		for k := range values {
			values[k] = float32(k%11)/11 - 0.5
		}
		pool := g.Do(gorgonia.Reshape(g.Do(gorgonia.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1})), tensor.Shape{g.Batch, 25}))
		output := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(pool, g.Constant("c", values, 25, 70)))))
		h := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, 36})), g.Param("w", 36, 2)))
		return g.Done(output, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))
	}},
	// A gradient takes more positions of maxima than a prediction.
	"a pooling that isn't in the output": {48, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 1, 6, 6), g.Param("w", 2, 1, 1, 1)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Conv2d(x, w, tensor.Shape{1, 1}, []int{0, 0}, []int{1, 1}, []int{1, 1}))))
		pool := g.Do(gorgonia.MaxPool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}))
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(pool)))))
	}},
	// Neither reads the other's result, and nothing reads the positions of the maxima.
	"poolings side by side": {44, func(g *G) (compile.Source, error) {
		pool := func(x *gorgonia.Node) *gorgonia.Node {
			h := g.Do(gorgonia.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}))
			return g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 24}))
		}
		h := g.Do(gorgonia.Sub(pool(g.In("x", 2, 4, 5)), pool(g.In("y", 2, 4, 5))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Param("w", 24, 3))))
	}},
	"a convolution with dilated rows": {39, func(g *G) (compile.Source, error) {
		x, w := g.In("x", 2, 7, 5), g.Param("w", 3, 2, 3, 2)
		return g.Squares(g.Do(gorgonia.Conv2d(x, w, tensor.Shape{3, 2}, []int{1, 0}, []int{1, 2}, []int{2, 1})))
	}},
	// Sums of so many elements, and gradients spread so far, that a device uses many threads for each.
	"sums of many elements": {40, func(g *G) (compile.Source, error) {
		x, v := g.In("x", 2, 45), g.Param("v", 1, 2, 1)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastHadamardProd(x, v, nil, []byte{0, 2}))))
		h = g.Do(gorgonia.BroadcastHadamardProd(h, v, nil, []byte{0, 2}))
		sums := g.Do(gorgonia.Sum(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 90})), 1))
		return g.Squares(g.Do(gorgonia.Add(sums, g.Do(gorgonia.Mean(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 90})), 1)))))
	}},
	// They have several rows each, and operands whose exponential overflows single precision.
	"softmaxes of long rows": {42, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(g.In("x", 3, 5), tensor.Shape{g.Batch * 3, 5})), g.Param("w", 5, 40)))
		soft := g.Do(gorgonia.SoftMax(g.Do(gorgonia.Add(h, g.Number(100)))))
		logs := g.Do(gorgonia.LogSoftMax(g.Do(gorgonia.Sub(h, g.Number(100)))))
		return g.rows(g.Do(gorgonia.Add(soft, logs)), 120)
	}},
	// A warp has eight rows of a product, of filters and of channels.
	"more filters than a warp has": {54, func(g *G) (compile.Source, error) {
		x, w, v := g.In("x", 2, 5, 5), g.Param("w", 10, 2, 1, 1), g.Param("v", 9, 10, 2, 2)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Conv2d(x, w, tensor.Shape{1, 1}, []int{0, 0}, []int{1, 1}, []int{1, 1}))))
		return g.Squares(g.Do(gorgonia.Conv2d(h, v, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1})))
	}},
	"an identity": {34, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.ApplyOp(gorgonia.Iop{}, g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 3)))))
		return g.Squares(g.Do(gorgonia.Tanh(h)))
	}},
}

// convolutions returns graphs whose gradient goes back through a convolution, to pixels that several elements of the
// window meet, or some, or none, depending on the common factors of strides and dilations. Their geometry differs
// between the two axes.
func convolutions() map[string]Graph {
	out := map[string]Graph{}
	for name, c := range map[string]struct{ image, window, pad, stride, dilation [2]int }{
		"both of two":              {[2]int{11, 9}, [2]int{3, 2}, [2]int{2, 1}, [2]int{2, 2}, [2]int{2, 2}},
		"stride two over three":    {[2]int{11, 10}, [2]int{3, 4}, [2]int{2, 1}, [2]int{2, 3}, [2]int{3, 2}},
		"four over six":            {[2]int{15, 12}, [2]int{3, 2}, [2]int{1, 3}, [2]int{4, 2}, [2]int{6, 3}},
		"windows less than stride": {[2]int{7, 9}, [2]int{1, 2}, [2]int{0, 1}, [2]int{3, 4}, [2]int{1, 1}},
		"small images":             {[2]int{3, 2}, [2]int{2, 1}, [2]int{1, 0}, [2]int{4, 3}, [2]int{1, 1}},
	} {
		out["back through a convolution: "+name] = Graph{43, func(g *G) (compile.Source, error) {
			x, w, v := g.In("x", 2, c.image[0], c.image[1]), g.Param("w", 3, 2, 1, 1), g.Param("v", 2, 3, c.window[0], c.window[1])
			h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Conv2d(x, w, tensor.Shape{1, 1}, []int{0, 0}, []int{1, 1}, []int{1, 1}))))
			return g.Squares(g.Do(gorgonia.Conv2d(h, v, c.window[:], c.pad[:], c.stride[:], c.dilation[:])))
		}}
	}
	return out
}

// poolings returns graphs of max-poolings whose geometry differs between the two axes.
func poolings() map[string]Graph {
	out := map[string]Graph{}
	for name, c := range map[string]struct{ image, window, pad, stride [2]int }{
		"tall windows":      {[2]int{7, 6}, [2]int{3, 2}, [2]int{1, 0}, [2]int{2, 1}},
		"wide windows":      {[2]int{6, 9}, [2]int{2, 4}, [2]int{0, 1}, [2]int{1, 3}},
		"more than windows": {[2]int{7, 8}, [2]int{2, 1}, [2]int{0, 0}, [2]int{3, 2}},
		"two by two":        {[2]int{7, 8}, [2]int{2, 2}, [2]int{0, 0}, [2]int{2, 3}},
		"one window tall":   {[2]int{2, 7}, [2]int{2, 2}, [2]int{0, 0}, [2]int{1, 2}},
		"one window wide":   {[2]int{5, 2}, [2]int{2, 2}, [2]int{0, 0}, [2]int{1, 1}},
		"padded two by two": {[2]int{6, 5}, [2]int{2, 2}, [2]int{1, 1}, [2]int{2, 1}},
	} {
		out["max-pool: "+name] = Graph{46, func(g *G) (compile.Source, error) {
			x, w := g.In("x", 2, c.image[0], c.image[1]), g.Param("w", 3, 2, 1, 1)
			h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{1, 1}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
			return g.Squares(g.Do(gorgonia.MaxPool2D(h, c.window[:], c.pad[:], c.stride[:])))
		}}
	}
	return out
}
