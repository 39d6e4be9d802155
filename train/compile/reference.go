package compile

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Reference computes per-sample gradients with Gorgonia's own differentiation and operations, one sample
// at a time. It is the oracle that step programs are held against and the engine of graphs that have
// no step program. It is slow; concurrent calls take turns, since Gorgonia's operations keep state.
//
// It evaluates the graph node by node, on copies, rather than by Gorgonia's tape machine: that machine
// (v0.9.18) lets an operation write over a value that a reshaped view or a gradient shared by two
// parameters still needs. For xw + b + b + c it gives c the gradient of b. Where nothing is shared, as
// in both models of this project, the two agree; the tests hold them together there.
type Reference struct {
	src    Source
	grads  gorgonia.Nodes
	order  []*gorgonia.Node // operands before results
	output []*gorgonia.Node // the part of it that the output needs
	dtype  tensor.Dtype
	turn   sync.Mutex
}

// Bound is a set of parameters in the graph's own form; see [Reference.Bind].
type Bound []gorgonia.Value

// NewReference differentiates a graph that was built with a batch of one. It adds the gradient's nodes
// to the graph, so a graph can have one reference only.
func NewReference(src Source) (*Reference, error) {
	for _, n := range src.Inputs {
		if s := n.Shape(); len(s) == 0 || s[0] != 1 {
			return nil, fmt.Errorf("%w: input %q has shape %v; one sample at a time needs a batch of one", ErrSource, n.Name(), s)
		}
	}
	r := &Reference{src: src, dtype: src.Params[0].Dtype()}
	if err := r.differentiate(); err != nil {
		return nil, fmt.Errorf("%w: differentiate cost: %w", ErrSource, err)
	}
	r.order = evaluationOrder(r.grads)
	if src.Output != nil {
		r.output = evaluationOrder(gorgonia.Nodes{src.Output})
	}
	return r, nil
}

// differentiate leaves a nil gradient for parameters that the cost doesn't depend on, which Gorgonia
// would refuse.
func (r *Reference) differentiate() (err error) {
	defer recovered(&err)
	used := evaluationOrder(gorgonia.Nodes{r.src.Cost})
	var wrt gorgonia.Nodes
	for _, p := range r.src.Params {
		if slices.Contains(used, p) {
			wrt = append(wrt, p)
		}
	}
	grads, err := gorgonia.Grad(r.src.Cost, wrt...)
	if err != nil {
		return err
	}
	for _, p := range r.src.Params {
		var g *gorgonia.Node
		if len(wrt) > 0 && wrt[0] == p {
			g, wrt, grads = grads[0], wrt[1:], grads[1:]
		}
		r.grads = append(r.grads, g)
	}
	return nil
}

// recovered makes an error of a panic in one of Gorgonia's operations, some of which know no other way.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("gorgonia panicked: %v", p)
	}
}

// evaluationOrder lists all that the given nodes depend on, and themselves, operands first.
func evaluationOrder(ends gorgonia.Nodes) []*gorgonia.Node {
	var out []*gorgonia.Node
	seen := map[*gorgonia.Node]bool{}
	var visit func(n *gorgonia.Node)
	visit = func(n *gorgonia.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, c := range children(n) {
			visit(c)
		}
		out = append(out, n)
	}
	for _, n := range ends {
		visit(n)
	}
	return out
}

// value makes a node's value of float32 numbers, in the graph's own precision.
func (r *Reference) value(n *gorgonia.Node, numbers []float32) (gorgonia.Value, error) {
	if want := max(1, n.Shape().TotalSize()); len(numbers) != want {
		return nil, fmt.Errorf("node %q: %d values given, %d needed", n.Name(), len(numbers), want)
	}
	if n.IsScalar() {
		if r.dtype == tensor.Float64 {
			return gorgonia.NewF64(float64(numbers[0])), nil
		}
		return gorgonia.NewF32(numbers[0]), nil
	}
	var backing any = append([]float32(nil), numbers...)
	if r.dtype == tensor.Float64 {
		wide := make([]float64, len(numbers))
		for i, v := range numbers {
			wide[i] = float64(v)
		}
		backing = wide
	}
	return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(backing)), nil
}

// Bind copies parameters for use in any number of evaluations.
func (r *Reference) Bind(params [][]float32) (Bound, error) {
	var out Bound
	for i, n := range r.src.Params {
		v, err := r.value(n, params[i])
		if err != nil {
			return nil, fmt.Errorf("bind parameters: %w", err)
		}
		out = append(out, v)
	}
	return out, nil
}

// Gradient returns one sample's gradient for each parameter, given its inputs' values in order.
func (r *Reference) Gradient(params Bound, inputs [][]float32) ([][]float64, error) {
	values, err := r.evaluate(r.order, params, inputs)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for i, n := range r.grads {
		if n == nil {
			out = append(out, make([]float64, max(1, r.src.Params[i].Shape().TotalSize())))
			continue
		}
		g, err := doubles(values[n])
		if err != nil {
			return nil, fmt.Errorf("gradient of %q: %w", r.src.Params[i].Name(), err)
		}
		out = append(out, g)
	}
	return out, nil
}

// Output returns one sample's output.
func (r *Reference) Output(params Bound, inputs [][]float32) ([]float32, error) {
	values, err := r.evaluate(r.output, params, inputs)
	if err != nil {
		return nil, err
	}
	out, err := floatsOf(values[r.src.Output])
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", r.src.Output.Name(), err)
	}
	return out, nil
}

func (r *Reference) evaluate(order []*gorgonia.Node, params Bound, inputs [][]float32) (map[*gorgonia.Node]gorgonia.Value, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	values := map[*gorgonia.Node]gorgonia.Value{}
	for i, n := range r.src.Inputs {
		v, err := r.value(n, inputs[i])
		if err != nil {
			return nil, fmt.Errorf("evaluate sample: %w", err)
		}
		values[n] = v
	}
	for i, n := range r.src.Params {
		values[n] = params[i]
	}
	for _, n := range order {
		if values[n] != nil {
			continue
		}
		if operands := children(n); len(operands) > 0 {
			v, err := apply(n, operands, values)
			if err != nil {
				return nil, fmt.Errorf("evaluate sample: %s (node %q): %w", opName(n), n.Name(), err)
			}
			values[n] = v
			continue
		}
		if values[n] = n.Value(); values[n] == nil {
			return nil, fmt.Errorf("evaluate sample: node %q has no value bound", n.Name())
		}
	}
	return values, nil
}

// apply runs one operation on copies of its operands, which it may then do with as it likes.
func apply(n *gorgonia.Node, operands []*gorgonia.Node, values map[*gorgonia.Node]gorgonia.Value) (out gorgonia.Value, err error) {
	defer recovered(&err)
	if opType(n.Op()) == "sumOp" {
		return sumOver(n, values[operands[0]])
	}
	in := make([]gorgonia.Value, len(operands))
	for i, c := range operands {
		v, err := gorgonia.CloneValue(values[c])
		if err != nil {
			return nil, err
		}
		in[i] = v
	}
	return n.Op().Do(in...)
}

// sumOver sums over axes. Package tensor's own sum (v0.9.24) is wrong over some inner axes of tensors with
// four and more.
func sumOver(n *gorgonia.Node, v gorgonia.Value) (gorgonia.Value, error) {
	x, err := doubles(v)
	if err != nil {
		return nil, err
	}
	shape := append([]int(nil), v.Shape()...)
	along := fieldsOf(n.Op()).ints("along")
	total := make([]float64, max(1, n.Shape().TotalSize()))
	index := make([]int, len(shape))
	for _, e := range x {
		at := 0
		for d, i := range index {
			if !slices.Contains(along, d) {
				at = at*shape[d] + i
			}
		}
		total[at] += e
		increment(index, shape)
	}
	double := v.Dtype() == tensor.Float64
	switch {
	case n.IsScalar() && double:
		return gorgonia.NewF64(total[0]), nil
	case n.IsScalar():
		return gorgonia.NewF32(float32(total[0])), nil
	case double:
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(total)), nil
	}
	narrow := make([]float32, len(total))
	for i, e := range total {
		narrow[i] = float32(e)
	}
	return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(narrow)), nil
}

func doubles(v gorgonia.Value) ([]float64, error) {
	if t, ok := v.(*tensor.Dense); ok && !t.RequiresIterator() {
		if d, ok := t.Data().([]float64); ok {
			return append([]float64(nil), d...), nil
		}
	}
	if d, ok := v.Data().(float64); ok {
		return []float64{d}, nil
	}
	narrow, err := floatsOf(v)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(narrow))
	for i, x := range narrow {
		out[i] = float64(x)
	}
	return out, nil
}

// Clip returns min(1, c/‖g‖) for a squared norm, and 0 where the norm isn't finite: such a sample
// contributes nothing. Nor does one that would be scaled by less than 2⁻¹⁰⁰: in single precision the
// factor, and what it scales, would be rounded too coarsely to keep to c.
func Clip(squaredNorm, c float64) float64 {
	norm := math.Sqrt(squaredNorm)
	switch {
	case norm <= c:
		return 1
	case c/norm >= 0x1p-100:
		return c / norm
	}
	return 0 // NaN and infinity come here too
}
