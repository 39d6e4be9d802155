package graph

import (
	"errors"
	"reflect"

	"gorgonia.org/gorgonia"
)

// Gorgonia (v0.9.18) offers a node's operands only by its graph's index by number. That index is stale once a node was
// taken out of the graph, as BinaryXent does, and then returns another node's operands. So this file reads them from
// the node itself, from an unexported field whose name and type the tests pin.

// errOperands reports a Gorgonia whose nodes have another layout.
var errOperands = errors.New("this version of Gorgonia keeps a node's operands where dptrain can't find them; use the one that dptrain's go.mod names")

// Operands returns the nodes that a node is computed from, in order.
func Operands(n *gorgonia.Node) ([]*gorgonia.Node, error) {
	f := reflect.ValueOf(n).Elem().FieldByName("children")
	if !f.IsValid() || f.Type() != reflect.TypeFor[gorgonia.Nodes]() {
		return nil, errOperands
	}
	if n.Op() == nil {
		return nil, nil
	}
	out := make([]*gorgonia.Node, f.Len())
	for i := range out {
		out[i] = (*gorgonia.Node)(f.Index(i).UnsafePointer())
	}
	return out, nil
}

// Children returns the operands of a node whose graph was checked.
func Children(n *gorgonia.Node) []*gorgonia.Node {
	out, _ := Operands(n)
	return out
}

// Order returns the given nodes and all that they depend on, operands first.
func Order(ends gorgonia.Nodes) []*gorgonia.Node {
	var out []*gorgonia.Node
	seen := map[*gorgonia.Node]bool{}
	var visit func(n *gorgonia.Node)
	visit = func(n *gorgonia.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, c := range Children(n) {
			visit(c)
		}
		out = append(out, n)
	}
	for _, n := range ends {
		visit(n)
	}
	return out
}

// Name returns a node's name, or "".
func Name(n *gorgonia.Node) string {
	if f := reflect.ValueOf(n).Elem().FieldByName("name"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}
