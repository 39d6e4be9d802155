package networks

import (
	"fmt"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is train.Model, which this package can't import: values of the two types are assignable to each other.
type Model = struct {
	Inputs     gorgonia.Nodes
	Parameters gorgonia.Nodes
	Constants  gorgonia.Nodes
	Output     *gorgonia.Node
	Cost       *gorgonia.Node
	Initial    func(seed rand.Source) [][]float32
}

// Graph is a model whose inputs and parameters are added one by one. [Graph.Build] completes it.
type Graph struct {
	Model
	Expr    *gorgonia.ExprGraph
	Batch   int // the first axis of all inputs
	dtype   tensor.Dtype
	initial []Initialiser // of Parameters
}

// NewGraph returns a graph without nodes. dtype is the type of its parameters.
func NewGraph(batch int, dtype tensor.Dtype) *Graph {
	return &Graph{Expr: gorgonia.NewGraph(), Batch: batch, dtype: dtype}
}

// failure is the panic by which an error ends the function that [Graph.Build] calls.
type failure struct{ error }

// Build returns the model after f, which adds to the graph and returns output and cost. An error of [Do] or [Require]
// ends f. So does any other panic, whose error says panic. explain returns Build's error; it is called while the panic
// unwinds the stack.
func (g *Graph) Build(f func() (output, cost *gorgonia.Node), explain func(error) error) (m Model, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = explain(p.error)
		default:
			err = explain(fmt.Errorf("panic: %v", p))
		}
	}()
	output, cost := f()
	m = g.Model
	m.Output, m.Cost, m.Initial = output, cost, initialValues(m.Parameters, g.initial)
	return m, nil
}

// Do returns n, unless err ends the function that [Graph.Build] calls. It takes the results of any operation.
func Do(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(failure{err})
	}
	return n
}

// Require ends the function that [Graph.Build] calls by an error, unless ok.
func Require(ok bool, format string, args ...any) {
	if !ok {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// Input adds an input [batch, shape…].
func (g *Graph) Input(name string, dtype tensor.Dtype, shape ...int) *gorgonia.Node {
	n := g.tensor(name, dtype, append([]int{g.Batch}, shape...))
	g.Inputs = append(g.Inputs, n)
	return n
}

// Parameter adds a parameter without values.
func (g *Graph) Parameter(name string, initial Initialiser, shape ...int) *gorgonia.Node {
	n := g.tensor(name, g.dtype, shape)
	g.Parameters, g.initial = append(g.Parameters, n), append(g.initial, initial)
	return n
}

func (g *Graph) tensor(name string, dtype tensor.Dtype, shape []int) *gorgonia.Node {
	return gorgonia.NewTensor(g.Expr, dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
}
