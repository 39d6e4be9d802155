package compile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorgonia.org/gorgonia"
)

// Gorgonia offers no way to a node's operands but its graph's index by number, which goes stale when a node is
// taken out of the graph (v0.9.18; BinaryXent does it): it then answers with another node's operands. They are
// read from the node itself, in an unexported field whose name and type the tests pin.

// errOperands says that Gorgonia's nodes aren't laid out as this package knows them.
var errOperands = errors.New("this version of Gorgonia keeps a node's operands where dptrain can't find them; use the one that dptrain's go.mod names")

// operands returns what a node is computed from, in order.
func operands(n *gorgonia.Node) ([]*gorgonia.Node, error) {
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

// children is operands for nodes of a graph that was checked.
func children(n *gorgonia.Node) []*gorgonia.Node {
	out, _ := operands(n)
	return out
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

// nameOf returns the name that a node was given, or "".
func nameOf(n *gorgonia.Node) string {
	if f := reflect.ValueOf(n).Elem().FieldByName("name"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// label says in a few words of one line which node an error is about. Gorgonia names a constant after all of its
// values, and what is computed after its operation.
func label(n *gorgonia.Node) string {
	const most = 60
	s := nameOf(n)
	switch {
	case s != "":
	case n.Op() == nil:
		s = "without a name"
	default:
		s = n.Name()
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

func opName(n *gorgonia.Node) string {
	if n.Op() == nil {
		return "input"
	}
	return fmt.Sprintf("%v [%s]", n.Op(), typeName(n.Op()))
}
