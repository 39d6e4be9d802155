package compile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// copier copies nodes of a graph into a graph of its own. Differentiating adds to a graph and may take nodes out
// of it, reads the graph's stale index, and some operations keep scratch values: none of that may reach the user's
// graph, nor another reference of it.
type copier struct {
	graph *gorgonia.ExprGraph
	nodes map[*gorgonia.Node]*gorgonia.Node // copies, by original
	fixed map[*gorgonia.Node]gorgonia.Value // constants, by copy
}

func newCopier() *copier {
	return &copier{gorgonia.NewGraph(), map[*gorgonia.Node]*gorgonia.Node{}, map[*gorgonia.Node]gorgonia.Value{}}
}

// copy copies all that a node depends on and returns the node's copy.
func (c *copier) copy(end *gorgonia.Node) (*gorgonia.Node, error) {
	for _, n := range evaluationOrder(gorgonia.Nodes{end}) {
		if c.nodes[n] != nil {
			continue
		}
		m, err := c.one(n)
		if err != nil {
			return nil, fmt.Errorf("copy node %q: %w", label(n), err)
		}
		c.nodes[n] = m
	}
	return c.nodes[end], nil
}

// one copies a node whose operands are copied already.
func (c *copier) one(n *gorgonia.Node) (m *gorgonia.Node, err error) {
	defer recovered(&err)
	var below gorgonia.Nodes
	for _, o := range children(n) {
		below = append(below, c.nodes[o])
	}
	if n.Op() == nil {
		return c.leaf(n), nil
	}
	op := owned(n.Op())
	switch f := fieldsOf(op); kindOf(op) {
	case "constantScalar", "constantTensor":
		// Gorgonia tells constants apart by what they print, which leaves out the middle of large ones.
		m = c.leaf(n)
		c.fixed[m], err = cloned(n.Value())
		return m, err
	case "Iop":
		return below[0], nil
	case "maxOp":
		op = maximum{op}
	case "maxPoolOp": // keeps where it found its maxima
		pad := []int{f.int("padNorth"), f.int("padWest")}
		return gorgonia.MaxPool2D(below[0], tensor.Shape{f.int("h"), f.int("w")}, pad, []int{f.int("strideH"), f.int("strideW")})
	case "softmaxOp": // becomes a log softmax when Log is taken of it later
		var axis []int
		if a := f.int("axis"); a >= 0 {
			axis = []int{a}
		}
		if f.bool("isLog") {
			return gorgonia.LogSoftMax(below[0], axis...)
		}
		return gorgonia.SoftMax(below[0], axis...)
	}
	// The node takes the list of its operands over.
	m = gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.WithOp(op), gorgonia.WithChildren(slices.Clone(below)),
		gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...))
	if !slices.Equal(children(m), below) {
		return nil, errors.New("gorgonia takes it for another node")
	}
	return m, nil
}

// owned returns the operation with lists of its own: Gorgonia keeps those that a caller handed to Reshape, Transpose,
// Sum, Max and Slice, so that a list that is used for the next node changes what the last one computes.
func owned(op gorgonia.Op) gorgonia.Op {
	from := reflect.ValueOf(op)
	pointer := from.Kind() == reflect.Pointer
	if pointer {
		from = from.Elem()
	}
	if from.Kind() != reflect.Struct {
		return op
	}
	to := reflect.New(from.Type()).Elem()
	to.Set(from)
	for i := range to.NumField() {
		f := to.Field(i)
		f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem() // the field may not be exported
		if f.Kind() == reflect.Slice && !f.IsNil() {
			list := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(list, f)
			f.Set(list)
		}
		if s, ok := f.Interface().(tensor.Slice); ok && f.Kind() == reflect.Interface {
			f.Set(reflect.ValueOf(gorgonia.S(s.Start(), s.End(), s.Step())))
		}
	}
	if pointer {
		to = to.Addr()
	}
	return to.Interface().(gorgonia.Op)
}

// leaf makes an input. Inputs of one name and shape would be one node.
func (c *copier) leaf(n *gorgonia.Node) *gorgonia.Node {
	return gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...),
		gorgonia.WithName(fmt.Sprintf("leaf %d", len(c.nodes))))
}
