package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/graph"
)

// The unexported field with a node's operands agrees with Gorgonia's own print of the node: its operation and the
// numbers of its operands, in order.
func TestOperandsAreTheNodesOwn(t *testing.T) {
	seen := 0
	for name, z := range enginetest.Zoo() {
		src, err := z.Build(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range src.Cost.Graph().AllNodes() {
			below, err := graph.Operands(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(below) == 0 {
				continue
			}
			var numbers []string
			for _, c := range below {
				numbers = append(numbers, fmt.Sprintf("%%%x", c.ID()))
			}
			if want := fmt.Sprintf("%v(%s)", n.Op(), strings.Join(numbers, ", ")); want != n.Name() {
				t.Errorf("%s: read %s of node %s", name, want, n.Name())
			}
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("only %d nodes have operands: the test shows nothing", seen)
	}
}
