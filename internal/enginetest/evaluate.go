package enginetest

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// evaluate computes a node and all that it depends on, and adds their values to values.
func evaluate(end *gorgonia.Node, values map[*gorgonia.Node]gorgonia.Value) error {
	for _, n := range graph.Order(gorgonia.Nodes{end}) {
		if values[n] != nil {
			continue
		}
		below := graph.Children(n)
		if len(below) == 0 { // differentiation made a constant
			if values[n] = n.Value(); values[n] == nil {
				return fmt.Errorf("node %q has no value", graph.Label(n))
			}
			continue
		}
		v, err := apply(n, below, values)
		if err != nil {
			return fmt.Errorf("operation %s: %w", graph.Operation(n), err)
		}
		values[n] = v
	}
	return nil
}

// apply runs one operation on copies of its operands, since it may write over them.
func apply(n *gorgonia.Node, below []*gorgonia.Node, values map[*gorgonia.Node]gorgonia.Value) (out gorgonia.Value, err error) {
	defer recovered(&err)
	switch op := n.Op().(type) {
	case maximum:
		return reduce(n, values[below[0]], alongOf(op), math.Inf(-1), math.Max)
	case maximumBack:
		return spread(n, values[below[0]], values[below[1]], alongOf(op))
	case dropped:
		return op.apply(n, values[below[0]])
	}
	if graph.Kind(n.Op()) == "sumOp" {
		return reduce(n, values[below[0]], graph.FieldsOf(n.Op()).Ints("along"), 0, func(a, b float64) float64 { return a + b })
	}
	in := make([]gorgonia.Value, len(below))
	for i, c := range below {
		if in[i], err = cloned(values[c]); err != nil {
			return nil, err
		}
	}
	return n.Op().Do(in...)
}

// cloned copies a value, in row-major order.
func cloned(v gorgonia.Value) (gorgonia.Value, error) {
	if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() {
		v = t.Materialize().(*tensor.Dense)
	}
	return gorgonia.CloneValue(v)
}

// valueLike makes a value of a node's shape and of type t.
func valueLike(n *gorgonia.Node, t tensor.Dtype, numbers []float64) gorgonia.Value {
	var backing any = numbers
	switch t {
	case tensor.Int:
		backing = converted[int](numbers)
	case tensor.Int32:
		backing = converted[int32](numbers)
	case tensor.Int64:
		backing = converted[int64](numbers)
	case tensor.Float32:
		if n.IsScalar() {
			return gorgonia.NewF32(float32(numbers[0]))
		}
		backing = converted[float32](numbers)
	case tensor.Float64:
		if n.IsScalar() {
			return gorgonia.NewF64(numbers[0])
		}
	}
	return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(backing))
}

// converted converts numbers, truncating them towards zero if To has integers.
func converted[To, From int | int32 | int64 | float32 | float64](numbers []From) []To {
	out := make([]To, len(numbers))
	for i, v := range numbers {
		out[i] = To(v)
	}
	return out
}
