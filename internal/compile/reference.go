package compile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Reference computes one sample's gradient with Gorgonia's own differentiation and operations. Tests check step
// programs against it, and it is the engine of graphs that have no step program. It is slow. Its methods may be called
// concurrently, but run one after another, since Gorgonia's operations keep state.
//
// Reference evaluates a copy of the graph node by node, on copies of values, instead of calling Gorgonia's tape machine
// (v0.9.18). That machine lets an operation overwrite a value that a reshaped view, or a gradient shared by two
// parameters, still needs: for xw + b + b + c it gives c the gradient of b. Where nothing is shared, as in both models
// of this project, the two agree, which tests check.
type Reference struct {
	src            Source         // with lists of its own; only build reads it
	inputs, params gorgonia.Nodes // copies
	cost, output   *gorgonia.Node
	grads          gorgonia.Nodes // nil for parameters that the cost doesn't depend on
	fixed          map[*gorgonia.Node]gorgonia.Value
	names          map[*gorgonia.Node]*gorgonia.Node // the originals, by copy
	forward        []*gorgonia.Node                  // the cost and what it depends on, operands first
	backward       []*gorgonia.Node                  // what the gradients depend on besides
	predict        []*gorgonia.Node
	turn           sync.Mutex
}

// Bound is a set of parameters' values in the graph's own form, made by [Reference.Bind].
type Bound []gorgonia.Value

// NewReference differentiates a copy of a graph that was built with a batch of one. The graph and the source's lists
// may change afterwards.
func NewReference(src Source) (*Reference, error) {
	src.Inputs, src.Params = slices.Clone(src.Inputs), slices.Clone(src.Params)
	r := &Reference{src: src, names: map[*gorgonia.Node]*gorgonia.Node{}}
	if err := r.build(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, oneLine(err))
	}
	return r, nil
}

func (r *Reference) build() (err error) {
	defer recovered(&err)
	if err := checkLists(r.src); err != nil {
		return err
	}
	if err := checkGraph(r.src); err != nil {
		return err
	}
	for _, n := range r.src.Inputs {
		if s := n.Shape(); len(s) == 0 || s[0] != 1 {
			return fmt.Errorf("input %q has shape %v; one sample at a time needs a batch of one", graph.Label(n), s)
		}
	}
	if s := r.src.Output; s != nil && (len(s.Shape()) == 0 || s.Shape()[0] != 1) {
		return fmt.Errorf("output %q doesn't have the batch as its first axis", graph.Label(s))
	}
	c := newCopier()
	if r.cost, err = c.copy(r.src.Cost); err != nil {
		return err
	}
	if r.grads, err = differentiate(r.cost, r.src.Params, c); err != nil {
		return fmt.Errorf("differentiate cost %q: %w", graph.Label(r.src.Cost), err)
	}
	r.forward = graph.Order(gorgonia.Nodes{r.cost})
	r.backward = slices.DeleteFunc(graph.Order(r.grads), func(n *gorgonia.Node) bool { return slices.Contains(r.forward, n) })
	if err := checkBackward(r.backward); err != nil {
		return err
	}
	// The output is copied after the cost was differentiated: differentiation must not meet what only the output needs.
	if r.src.Output != nil {
		if r.output, err = c.copy(r.src.Output); err != nil {
			return err
		}
		r.predict = graph.Order(gorgonia.Nodes{r.output})
	}
	r.fixed = c.fixed
	for _, list := range []struct {
		to   *gorgonia.Nodes
		from gorgonia.Nodes
	}{{&r.inputs, r.src.Inputs}, {&r.params, r.src.Params}} {
		for _, n := range list.from {
			m, err := c.copy(n) // parameters that neither cost nor output needs
			if err != nil {
				return err
			}
			*list.to = append(*list.to, m)
		}
	}
	for n, m := range c.nodes {
		r.names[m] = n
	}
	return nil
}

// differentiate returns the gradients of the cost, nil for parameters that it doesn't depend on, which Gorgonia would
// refuse.
func differentiate(cost *gorgonia.Node, params gorgonia.Nodes, c *copier) (grads gorgonia.Nodes, err error) {
	defer recovered(&err)
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

// gradientKinds lists the operations that differentiating the known ones adds.
var gradientKinds = []string{"col2imOp", "maxPoolDiffOp", "softmaxDiffOp", "sliceIncrOp", "byIndicesOpDiffOp", "upsampleDiffOp"}

// checkBackward refuses gradients with an operation that isn't known.
func checkBackward(backward []*gorgonia.Node) error {
	for _, n := range backward {
		if n.Op() == nil || slices.Contains(gradientKinds, graph.Kind(n.Op())) {
			continue
		}
		switch n.Op().(type) {
		case maximum, maximumBack:
			continue
		}
		if o, ok := known(n.Op()); !ok || o.refused != "" && graph.Kind(n.Op()) != "linAlgBinOp" {
			return fmt.Errorf("its gradient needs operation %s, which isn't known to be pure", graph.Operation(n))
		}
	}
	return nil
}

// recovered turns a panic of one of Gorgonia's operations into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("gorgonia panicked: %v", p)
	}
}

// Bind copies parameters' values for any number of evaluations.
func (r *Reference) Bind(params [][]float32) (Bound, error) {
	if len(params) != len(r.params) {
		return nil, fmt.Errorf("bind parameters: %d given, the graph has %d", len(params), len(r.params))
	}
	var out Bound
	for i, n := range r.params {
		v, err := r.valueOf(n, params[i])
		if err != nil {
			return nil, fmt.Errorf("bind parameters: %w", err)
		}
		out = append(out, v)
	}
	return out, nil
}

// Gradient returns one sample's gradient by parameter, given the values of its inputs in order. It is NaN throughout if
// the sample's cost isn't finite.
func (r *Reference) Gradient(params Bound, inputs [][]float32) ([][]float64, error) {
	out, err := r.gradient(params, inputs)
	if err != nil {
		return nil, fmt.Errorf("evaluate sample: %w", err)
	}
	return out, nil
}

func (r *Reference) gradient(params Bound, inputs [][]float32) ([][]float64, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	values, err := r.bound(params, inputs)
	if err != nil {
		return nil, err
	}
	if err := r.evaluate(r.forward, values); err != nil {
		return nil, err
	}
	cost, err := graph.Doubles(values[r.cost])
	if err != nil {
		return nil, fmt.Errorf("cost %q: %w", r.label(r.cost), err)
	}
	if math.IsNaN(cost[0]) || math.IsInf(cost[0], 0) {
		return r.filled(math.NaN()), nil
	}
	if err := r.evaluate(r.backward, values); errors.Is(err, errNotFinite) {
		return r.filled(math.NaN()), nil
	} else if err != nil {
		return nil, err
	}
	out := r.filled(0)
	for i, n := range r.grads {
		if n == nil {
			continue
		}
		g, err := graph.Doubles(values[n])
		if err == nil && len(g) != len(out[i]) {
			err = fmt.Errorf("it has %d values, the parameter %d", len(g), len(out[i]))
		}
		if err != nil {
			return nil, fmt.Errorf("gradient of %q: %w", r.label(r.params[i]), err)
		}
		out[i] = g
	}
	return out, nil
}

// filled returns a gradient whose elements are all v.
func (r *Reference) filled(v float64) [][]float64 {
	var out [][]float64
	for _, p := range r.params {
		g := make([]float64, max(1, p.Shape().TotalSize()))
		for k := range g {
			g[k] = v
		}
		out = append(out, g)
	}
	return out
}

// Output returns one sample's output. It is an error if the graph has none.
func (r *Reference) Output(params Bound, inputs [][]float32) ([]float32, error) {
	if r.output == nil {
		return nil, errors.New("evaluate sample: the graph names no output")
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	values, err := r.bound(params, inputs)
	if err == nil {
		err = r.evaluate(r.predict, values)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate sample: %w", err)
	}
	out, err := graph.FloatsOf(values[r.output])
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", r.label(r.output), err)
	}
	return out, nil
}
