package enginetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// copier copies nodes into a graph of its own. The graph under test stays as it is: differentiating adds nodes, may
// take some out and reads the graph's stale index.
type copier struct {
	graph  *gorgonia.ExprGraph
	nodes  map[*gorgonia.Node]*gorgonia.Node // copies, by original
	fixed  map[*gorgonia.Node]gorgonia.Value // constants, by copy
	listed gorgonia.Nodes                    // constants, originals
	drawn  map[*gorgonia.Node]int            // the first draw of each dropout and random node, by original
	draws  *[]uint32
	random []randomNode
}

// newCopier returns a copier of the nodes of a source, whose dropouts and random nodes use the sample's draws one after
// another.
func newCopier(draws *[]uint32, src compile.Source) *copier {
	drawn, at := map[*gorgonia.Node]int{}, 0
	for _, n := range graph.Order(gorgonia.Nodes{src.Output, src.Cost}) {
		if n.Op() == nil {
			continue
		}
		size := n.Shape().TotalSize()
		switch kind := graph.Kind(n.Op()); {
		case kind == "randomOp" && graph.FieldsOf(n.Op()).Int("which") == normal:
			size *= 2
		case kind != "dropoutOp" && kind != "randomOp":
			continue
		}
		drawn[n] = at
		at += (size + compile.DrawsMultiple - 1) / compile.DrawsMultiple * compile.DrawsMultiple
	}
	return &copier{gorgonia.NewGraph(), map[*gorgonia.Node]*gorgonia.Node{}, map[*gorgonia.Node]gorgonia.Value{}, src.Constants, drawn, draws, nil}
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
	var below gorgonia.Nodes
	for _, o := range graph.Children(n) {
		below = append(below, c.nodes[o])
	}
	op := n.Op()
	if op == nil {
		m = c.leaf(n)
		if slices.Contains(c.listed, n) {
			c.fixed[m], err = cloned(n.Value())
		}
		return m, err
	}
	switch graph.Kind(op) {
	case "constantScalar", "constantTensor":
		// Gorgonia compares constants by their printed text, which leaves out the middle of large ones.
		m = c.leaf(n)
		c.fixed[m], err = cloned(n.Value())
		return m, err
	case "randomOp":
		m = c.leaf(n)
		c.random = append(c.random, randomNode{m, graph.FieldsOf(op), c.drawn[n]})
		return m, nil
	case "Iop":
		return below[0], nil
	case "maxOp":
		op = maximum{op}
	case "dropoutOp":
		op = dropped{op, c.drawn[n], c.draws}
	}
	// NewUniqueNode keeps the list of operands that it is given.
	m = gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.WithOp(op), gorgonia.WithChildren(slices.Clone(below)),
		gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...))
	if !slices.Equal(graph.Children(m), below) {
		return nil, errors.New("gorgonia takes it for another node")
	}
	return m, nil
}

// leaf makes a leaf with a name of its own. Gorgonia takes inputs of one name and shape for one node.
func (c *copier) leaf(n *gorgonia.Node) *gorgonia.Node {
	return gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.In(c.graph), gorgonia.WithShape(n.Shape()...),
		gorgonia.WithName(fmt.Sprintf("leaf %d", len(c.nodes))))
}
