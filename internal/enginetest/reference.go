package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Reference computes one sample's gradient with Gorgonia's own differentiation and operations: it is the oracle of step
// programs. Its methods mustn't be called concurrently, since Gorgonia's operations keep state.
//
// Reference evaluates a copy of the graph node by node, on copies of values, instead of calling Gorgonia's tape machine
// (v0.9.18). That machine lets an operation overwrite a value that a reshaped view, or a gradient shared by two
// parameters, still needs: for xw + b + b + c it gives c the gradient of b. Where nothing is shared, as in the models
// of this project, the two agree, which tests check.
type Reference struct {
	inputs, params gorgonia.Nodes // copies
	cost, output   *gorgonia.Node
	grads          gorgonia.Nodes // nil for parameters that the cost doesn't depend on
	fixed          map[*gorgonia.Node]gorgonia.Value
	random         []randomNode
	draws          []uint32 // of the sample
}

// NewReference differentiates a copy of a graph that was built with a batch of one.
func NewReference(src compile.Source) (r *Reference, err error) {
	defer recovered(&err)
	for _, n := range src.Inputs {
		if s := n.Shape(); len(s) == 0 || s[0] != 1 {
			return nil, fmt.Errorf("input %q has shape %v; the reference needs a batch of one", graph.Label(n), s)
		}
	}
	r = &Reference{}
	c := newCopier(&r.draws, src)
	r.fixed = c.fixed
	if r.cost, err = c.copy(src.Cost); err != nil {
		return nil, err
	}
	if r.grads, err = differentiate(r.cost, src.Params, c); err != nil {
		return nil, fmt.Errorf("differentiate cost %q: %w", graph.Label(src.Cost), err)
	}
	// The output is copied after the cost was differentiated: differentiation must not meet what only the output needs.
	if src.Output != nil {
		if r.output, err = c.copy(src.Output); err != nil {
			return nil, err
		}
	}
	for _, list := range []struct {
		to   *gorgonia.Nodes
		from gorgonia.Nodes
	}{{&r.inputs, src.Inputs}, {&r.params, src.Params}} {
		for _, n := range list.from {
			m, err := c.copy(n) // parameters that neither cost nor output needs
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, m)
		}
	}
	r.random = c.random
	return r, nil
}

// differentiate returns the gradients of the cost, nil for parameters that it doesn't depend on, which Gorgonia would
// refuse.
func differentiate(cost *gorgonia.Node, params gorgonia.Nodes, c *copier) (grads gorgonia.Nodes, err error) {
	var wrt gorgonia.Nodes
	for _, p := range params {
		if m := c.nodes[p]; m != nil {
			wrt = append(wrt, m)
		}
	}
	if len(wrt) == 0 {
		return nil, errors.New("it doesn't depend on any parameter")
	}
	found, err := gorgonia.Grad(cost, wrt...)
	if err != nil {
		return nil, err
	}
	for _, p := range params {
		var g *gorgonia.Node
		if c.nodes[p] != nil {
			g, found = found[0], found[1:]
		}
		grads = append(grads, g)
	}
	return grads, nil
}

// recovered turns a panic of one of Gorgonia's operations into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("gorgonia panicked: %v", p)
	}
}

// bound returns numbers as the values of nodes.
func bound(nodes gorgonia.Nodes, numbers [][]float32) ([]gorgonia.Value, error) {
	if len(numbers) != len(nodes) {
		return nil, fmt.Errorf("%d arrays given, the graph has %d", len(numbers), len(nodes))
	}
	var out []gorgonia.Value
	for i, n := range nodes {
		if want := max(1, n.Shape().TotalSize()); len(numbers[i]) != want {
			return nil, fmt.Errorf("array %d has %d values, %d are needed", i, len(numbers[i]), want)
		}
		out = append(out, valueLike(n, n.Dtype(), converted[float64](numbers[i])))
	}
	return out, nil
}

// Gradient returns one sample's gradient by parameter, given the values of the parameters and of the sample's inputs,
// in order. It is NaN throughout if the sample's cost isn't finite.
func (r *Reference) Gradient(params, inputs [][]float32) ([][]float64, error) {
	values, err := r.values(params, inputs)
	if err != nil {
		return nil, err
	}
	if err := evaluate(r.cost, values); err != nil {
		return nil, err
	}
	cost, err := graph.Doubles(values[r.cost])
	if err != nil {
		return nil, err
	}
	finite := cost[0]-cost[0] == 0
	var out [][]float64
	for i, n := range r.grads {
		g := make([]float64, max(1, r.params[i].Shape().TotalSize()))
		switch {
		case !finite:
			g = slices.Repeat([]float64{math.NaN()}, len(g))
		case n != nil:
			if err := evaluate(n, values); err != nil {
				return nil, err
			}
			of, err := graph.Doubles(values[n])
			if err != nil {
				return nil, err
			}
			if len(of) != len(g) {
				return nil, fmt.Errorf("the gradient of parameter %d has %d values, the parameter %d", i, len(of), len(g))
			}
			g = of
		}
		out = append(out, g)
	}
	return out, nil
}

// Output returns one sample's output, for which nothing is dropped and random nodes are at their means. It is an error
// if the graph has none.
func (r *Reference) Output(params, inputs [][]float32) ([]float32, error) {
	r.draws = nil
	if r.output == nil {
		return nil, errors.New("the graph names no output")
	}
	values, err := r.values(params, inputs)
	if err != nil {
		return nil, err
	}
	if err := evaluate(r.output, values); err != nil {
		return nil, err
	}
	return graph.FloatsOf(values[r.output])
}

// values returns the values of constants, parameters and one sample's inputs by node.
func (r *Reference) values(params, inputs [][]float32) (map[*gorgonia.Node]gorgonia.Value, error) {
	values := map[*gorgonia.Node]gorgonia.Value{}
	for n, v := range r.fixed {
		values[n] = v
	}
	for _, n := range r.random {
		values[n.copy] = valueLike(n.copy, n.copy.Dtype(), converted[float64](n.numbers(r.draws)))
	}
	for _, list := range []struct {
		nodes   gorgonia.Nodes
		numbers [][]float32
	}{{r.inputs, inputs}, {r.params, params}} {
		of, err := bound(list.nodes, list.numbers)
		if err != nil {
			return nil, err
		}
		for i, n := range list.nodes {
			values[n] = of[i]
		}
	}
	return values, nil
}
