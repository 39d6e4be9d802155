package enginetest

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// G builds a graph by a chain of operations and keeps the chain's first error.
type G struct {
	Graph  *gorgonia.ExprGraph
	Batch  int
	dtype  tensor.Dtype
	random *rand.Rand
	src    compile.Source
	err    error
}

// NewG starts a graph for a batch size, with parameters drawn from a seed.
func NewG(batch int, seed uint64) *G {
	return &G{Graph: gorgonia.NewGraph(), Batch: batch, dtype: tensor.Float32, random: rand.New(rand.NewPCG(seed, 9))}
}

// NewDouble starts the same graph in double precision.
func NewDouble(batch int, seed uint64) *G {
	g := NewG(batch, seed)
	g.dtype = tensor.Float64
	return g
}

// In adds an input of the given shape for one sample.
func (g *G) In(name string, shape ...int) *gorgonia.Node {
	shape = append([]int{g.Batch}, shape...)
	n := gorgonia.NewTensor(g.Graph, g.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
	g.src.Inputs = append(g.src.Inputs, n)
	return n
}

// Ids adds an input of integers, in the type that Gorgonia uses for indices. shape is that of one sample.
func (g *G) Ids(name string, shape ...int) *gorgonia.Node {
	shape = append([]int{g.Batch}, shape...)
	n := gorgonia.NewTensor(g.Graph, tensor.Int, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
	g.src.Inputs = append(g.src.Inputs, n)
	return n
}

// Param adds a parameter with values from U(-0.5, 0.5), a scalar if no shape is given.
func (g *G) Param(name string, shape ...int) *gorgonia.Node { return g.param(0.5, name, shape...) }

// param adds a parameter with values from U(-bound, bound).
func (g *G) param(bound float64, name string, shape ...int) *gorgonia.Node {
	values := make([]float32, tensor.Shape(shape).TotalSize())
	if len(shape) == 0 {
		values = make([]float32, 1)
	}
	for i := range values {
		values[i] = float32(2*bound) * (g.random.Float32() - 0.5)
	}
	n := gorgonia.NewTensor(g.Graph, g.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(g.value(values, shape)))
	g.src.Params = append(g.src.Params, n)
	return n
}

// Number adds a constant in the graph's precision.
func (g *G) Number(v float64) *gorgonia.Node {
	return gorgonia.NewConstant(g.value([]float32{float32(v)}, nil))
}

// value returns a scalar or tensor in the graph's precision.
func (g *G) value(values []float32, shape []int) any {
	if g.dtype == tensor.Float32 {
		if len(shape) == 0 {
			return values[0]
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
	}
	wide := converted[float64](values)
	if len(shape) == 0 {
		return wide[0]
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(wide))
}

// Do returns the node of a Gorgonia operation and keeps the chain's first error.
func (g *G) Do(n *gorgonia.Node, err error) *gorgonia.Node {
	if g.err == nil && err != nil {
		g.err = err
	}
	if g.err != nil {
		// After an error any node continues the chain; Done returns the error.
		return g.src.Inputs[0]
	}
	return n
}

// Done closes the graph with a cost.
func (g *G) Done(output, cost *gorgonia.Node) (compile.Source, error) {
	g.src.Output, g.src.Cost = output, cost
	return g.src, g.err
}

// program closes the graph with a cost and compiles it.
func (g *G) program(t TB, output, cost *gorgonia.Node) *compile.Program {
	t.Helper()
	src, err := g.Done(output, cost)
	return compiled(t, src, err)
}

// Squares closes the graph with the sum of the squares of a node's elements as its cost.
func (g *G) Squares(n *gorgonia.Node) (compile.Source, error) {
	return g.Done(n, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(n)))))
}

// rows closes a graph whose last node has several rows for each sample.
func (g *G) rows(h *gorgonia.Node, perSample int) (compile.Source, error) {
	cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))
	return g.Done(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, perSample})), cost)
}
