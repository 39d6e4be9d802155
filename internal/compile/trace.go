package compile

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
)

// class tells how a node of the graph depends on the batch.
type class uint8

const (
	batched class = iota // one row a sample
	shared               // a parameter or constant, the same for all samples
	scalar               // a number known now
	summed               // a sum over the batch, fit to be (part of) the cost
)

// traced is what the compiler knows of a node of the graph.
type traced struct {
	class class

	// batched: the value and its shape for one sample. folded tells that the node's first axis is
	// batch × shape[0]; otherwise it is the batch alone and shape leaves it out. divided tells that it was
	// divided by a number that equals the batch size just before.
	id      ID
	shape   []int
	folded  bool
	divided bool

	// shared: the node, of shape `shape`, is value id seen through a view of that shape.
	// overBatch tells that it was repeated along the batch, whose axis shape leaves out unless folded.
	view      View
	overBatch bool

	// scalar: the number; it counts samples (times number) if ofBatch.
	// constant tells that it was given as a number, not read off a shape.
	number   float64
	ofBatch  bool
	constant bool

	// summed: Σ_k factor_k Σ_batch Σ_elements value_k. partial if some axes are still to be summed.
	terms   []term
	partial bool
}

// term is a value whose elements are added up over the batch, and what the sum is multiplied by.
type term struct {
	id     ID
	factor float64
}

// product returns the number of elements of a shape.
func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// tracer lowers a graph node by node into a program's values and forward instructions.
type tracer struct {
	batch int
	prog  *Program
	memo  map[*gorgonia.Node]traced
	needs map[ID]bool // values that depend on a parameter
	at    *gorgonia.Node
	code  []Instruction
}

// value adds a value to the program. Size follows from Shape.
func (t *tracer) value(v Value) ID {
	v.Size = product(v.Shape)
	t.prog.Values = append(t.prog.Values, v)
	return ID(len(t.prog.Values) - 1)
}

// buffer adds a value that instructions will write, of the given shape for one sample.
func (t *tracer) buffer(name string, shape []int) ID {
	return t.value(Value{Name: name, Kind: Buffer, Shape: append([]int(nil), shape...)})
}

// emit appends a forward instruction that computes a new buffer and returns it.
func (t *tracer) emit(n *gorgonia.Node, shape []int, in Instruction) ID {
	in.Out = t.buffer(nameOf(n), shape)
	if in.Op != MaxPool {
		in.Where = None
	}
	for _, id := range in.In {
		if t.needs[id] {
			t.needs[in.Out] = true
		}
	}
	t.code = append(t.code, in)
	return in.Out
}

// trace returns what a node of the graph is, once it and all that it depends on is lowered. Nodes that are met again
// were lowered then.
func (t *tracer) trace(n *gorgonia.Node) (traced, error) {
	if v, ok := t.memo[n]; ok {
		return v, nil
	}
	v, err := t.lower(n)
	if err != nil {
		return traced{}, err
	}
	t.memo[n] = v
	return v, nil
}

// lower handles constants and hands operations to their rules; inputs and parameters are known beforehand.
func (t *tracer) lower(n *gorgonia.Node) (traced, error) {
	t.at = n
	op := n.Op()
	kind := kindOf(op)
	switch kind {
	case "constantScalar", "constantTensor":
		return t.constant(n)
	case "transposeOp":
		if v, ok, err := t.convolution(n); ok || err != nil {
			return v, err
		}
	}
	rule, ok := rules[kind]
	if !ok {
		if err := refused(n); err != nil {
			return traced{}, err
		}
		return traced{}, noRule(n, "")
	}
	var in []traced
	for _, c := range children(n) {
		v, err := t.trace(c)
		if err != nil {
			return traced{}, err
		}
		in = append(in, v)
	}
	if t.integers(in...) && kind != "reshapeOp" && kind != "byIndicesOp" {
		return traced{}, noRule(n, "it reads integers")
	}
	v, err := rule(t, n, in)
	if err != nil {
		return traced{}, err
	}
	return v, t.check(n, v)
}

// integers tells whether some operands are integers, which a lookup picks rows by and no other rule computes with.
func (t *tracer) integers(in ...traced) bool {
	return slices.ContainsFunc(in, func(v traced) bool { return v.class == batched && t.prog.Values[v.id].Type != Float32 })
}

// check holds the compiler's idea of a node's size against Gorgonia's.
func (t *tracer) check(n *gorgonia.Node, v traced) error {
	want := n.Shape().TotalSize()
	if n.IsScalar() {
		want = 1
	}
	got := want
	switch {
	case v.class == batched, v.class == shared && v.overBatch:
		got = t.batch * product(v.shape)
	case v.class == shared:
		got = product(v.shape)
	}
	if got != want {
		return noRule(n, fmt.Sprintf("its %d values were taken for %d", want, got))
	}
	return nil
}

// constant takes a node that Gorgonia itself holds constant. What nothing computes and nobody listed isn't one.
func (t *tracer) constant(n *gorgonia.Node) (traced, error) {
	data, err := floats(n)
	if err != nil {
		return traced{}, noRule(n, err.Error())
	}
	if n.IsScalar() {
		return traced{class: scalar, number: float64(data[0]), constant: true}, nil
	}
	id := t.value(Value{Name: label(n), Kind: Const, Shape: shapeOf(n), Data: data})
	return traced{class: shared, id: id, shape: shapeOf(n), view: ViewOf(shapeOf(n))}, nil
}

// axis translates an axis of a batched node into one of its per-sample shape. Axis 0 is the batch's; in
// a folded node it is also the per-sample shape's first.
func (v traced) axis(a int) (perSample int, ofBatch bool) {
	if v.folded {
		return a, a == 0
	}
	return a - 1, a == 0
}

// spreadOver returns how a shared value is seen by a batched operand of the given per-sample shape; false if the shapes
// don't match.
func (v traced) spreadOver(shape []int) (View, bool) {
	if len(v.shape) == 0 {
		return View{v.view.Offset, slices.Clone(shape), make([]int, len(shape))}, true
	}
	return v.view, slices.Equal(v.shape, shape)
}
