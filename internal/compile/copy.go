package compile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// copier copies nodes into a graph of its own. The user's graph, and every other reference of it, stay as they are:
// differentiating adds nodes, may take some out and reads the graph's stale index, and some operations keep scratch
// values.
type copier struct {
	graph *gorgonia.ExprGraph
	nodes map[*gorgonia.Node]*gorgonia.Node // copies, by original
	fixed map[*gorgonia.Node]gorgonia.Value // constants, by copy
}

func newCopier() *copier {
	return &copier{gorgonia.NewGraph(), map[*gorgonia.Node]*gorgonia.Node{}, map[*gorgonia.Node]gorgonia.Value{}}
}

// copy copies a node and all that it depends on.
func (c *copier) copy(end *gorgonia.Node) (*gorgonia.Node, error) {
	for _, n := range graph.Order(gorgonia.Nodes{end}) {
		if c.nodes[n] != nil {
			continue
		}
		m, err := c.one(n)
		if err != nil {
			return nil, fmt.Errorf("copy node %q: %w", graph.Label(n), err)
		}
		c.nodes[n] = m
	}
	return c.nodes[end], nil
}

// one copies a node whose operands have been copied.
func (c *copier) one(n *gorgonia.Node) (m *gorgonia.Node, err error) {
	defer recovered(&err)
	var below gorgonia.Nodes
	for _, o := range graph.Children(n) {
		below = append(below, c.nodes[o])
	}
	if n.Op() == nil {
		return c.leaf(n), nil
	}
	op := owned(n.Op())
	switch f := graph.FieldsOf(op); graph.Kind(op) {
	case "constantScalar", "constantTensor":
		// Gorgonia compares constants by their printed text, which leaves out the middle of large ones.
		m = c.leaf(n)
		c.fixed[m], err = cloned(n.Value())
		return m, err
	case "Iop":
		return below[0], nil
	case "maxOp":
		op = maximum{op}
	case "maxPoolOp": // its operation keeps the positions of its maxima
		pad := []int{f.Int("padNorth"), f.Int("padWest")}
		return gorgonia.MaxPool2D(below[0], tensor.Shape{f.Int("h"), f.Int("w")}, pad, []int{f.Int("strideH"), f.Int("strideW")})
	case "softmaxOp": // a later Log turns its operation into a log softmax
		var axis []int
		if a := f.Int("axis"); a >= 0 {
			axis = []int{a}
		}
		if f.Bool("isLog") {
			return gorgonia.LogSoftMax(below[0], axis...)
		}
		return gorgonia.SoftMax(below[0], axis...)
	}
	// NewUniqueNode keeps the list of operands that it is given.
	m = gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.WithOp(op), gorgonia.WithChildren(slices.Clone(below)),
		gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...))
	if !slices.Equal(graph.Children(m), below) {
		return nil, errors.New("gorgonia takes it for another node")
	}
	return m, nil
}

// owned returns a copy of the operation with lists of its own. Gorgonia keeps the lists that callers hand to Reshape,
// Transpose, Sum, Max and Slice: a caller that reuses one changes an earlier operation.
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
		f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem() // which lets Set change an unexported field
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

// leaf makes a leaf with a name of its own. Gorgonia takes inputs of one name and shape for one node.
func (c *copier) leaf(n *gorgonia.Node) *gorgonia.Node {
	return gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...),
		gorgonia.WithName(fmt.Sprintf("leaf %d", len(c.nodes))))
}
