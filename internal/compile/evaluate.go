package compile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// errNotFinite reports a sample whose gradient isn't finite, so that the rest of it needn't be computed.
var errNotFinite = errors.New("not finite")

// evaluationError names the operation that failed. Error leaves out Gorgonia's own message, which may quote a sample's
// values.
type evaluationError struct {
	op, node string
	cause    error
}

func (e *evaluationError) Error() string {
	return fmt.Sprintf("operation %s (node %q) failed", e.op, e.node)
}

// bound returns the values of one sample's inputs and of the parameters by node.
func (r *Reference) bound(params Bound, inputs [][]float32) (map[*gorgonia.Node]gorgonia.Value, error) {
	if len(inputs) != len(r.inputs) || len(params) != len(r.params) {
		return nil, fmt.Errorf("%d inputs and %d parameters given, the graph has %d and %d", len(inputs), len(params), len(r.inputs), len(r.params))
	}
	values := make(map[*gorgonia.Node]gorgonia.Value, len(r.forward)+len(r.backward))
	for n, v := range r.fixed {
		values[n] = v
	}
	for i, n := range r.inputs {
		v, err := r.valueOf(n, inputs[i])
		if err != nil {
			return nil, err
		}
		values[n] = v
	}
	for i, n := range r.params {
		values[n] = params[i]
	}
	return values, nil
}

// evaluate computes nodes in order, operands first, and adds their values to values.
func (r *Reference) evaluate(order []*gorgonia.Node, values map[*gorgonia.Node]gorgonia.Value) error {
	for _, n := range order {
		if values[n] != nil {
			continue
		}
		below := graph.Children(n)
		if len(below) == 0 { // differentiation made a constant
			if values[n] = n.Value(); values[n] == nil {
				return fmt.Errorf("node %q has no value", r.label(n))
			}
			continue
		}
		v, err := apply(n, below, values)
		if err == nil && v == nil {
			err = errors.New("it gave no value")
		}
		if errors.Is(err, errNotFinite) {
			return err
		}
		if err != nil {
			return &evaluationError{graph.Operation(n), r.label(n), err}
		}
		values[n] = v
	}
	return nil
}

// label returns the name of the user's node that n is a copy of.
func (r *Reference) label(n *gorgonia.Node) string {
	if original := r.names[n]; original != nil {
		return graph.Label(original)
	}
	return graph.Label(n)
}

// apply runs one operation on copies of its operands, since it may write over them.
func apply(n *gorgonia.Node, below []*gorgonia.Node, values map[*gorgonia.Node]gorgonia.Value) (out gorgonia.Value, err error) {
	defer recovered(&err)
	switch op := n.Op().(type) {
	case maximum:
		return reduce(n, values[below[0]], alongOf(op), math.Inf(-1), math.Max)
	case maximumBack:
		return spread(n, values[below[0]], values[below[1]], alongOf(op))
	}
	switch graph.Kind(n.Op()) {
	case "sumOp":
		return reduce(n, values[below[0]], graph.FieldsOf(n.Op()).Ints("along"), 0, func(a, b float64) float64 { return a + b })
	case "maxPoolDiffOp":
		// The gradient of a window without any number has no position to go to.
		if x, err := graph.Doubles(values[below[0]]); err != nil || slices.ContainsFunc(x, func(v float64) bool { return !(v > -math.MaxFloat32) }) {
			return nil, errNotFinite
		}
	}
	in := make([]gorgonia.Value, len(below))
	for i, c := range below {
		if in[i], err = cloned(values[c]); err != nil {
			return nil, err
		}
	}
	return n.Op().Do(in...)
}

// cloned copies a value to memory that begins on a cache line. Gorgonia's products add up in another order elsewhere,
// and the last bit would depend on where the copy lies.
func cloned(v gorgonia.Value) (gorgonia.Value, error) {
	t, ok := v.(*tensor.Dense)
	if !ok {
		return gorgonia.CloneValue(v)
	}
	if t.RequiresIterator() {
		t = t.Materialize().(*tensor.Dense)
	}
	switch d := t.Data().(type) {
	case []float32:
		return tensor.New(tensor.WithShape(t.Shape().Clone()...), tensor.WithBacking(aligned(d))), nil
	case []float64:
		return tensor.New(tensor.WithShape(t.Shape().Clone()...), tensor.WithBacking(aligned(d))), nil
	}
	return gorgonia.CloneValue(v)
}

// aligned copies numbers to memory that begins on a cache line.
func aligned[T float32 | float64](x []T) []T {
	const line = 64
	buffer := make([]T, len(x)+line)
	for uintptr(unsafe.Pointer(&buffer[0]))%line != 0 {
		buffer = buffer[1:]
	}
	buffer = buffer[:len(x):len(x)]
	copy(buffer, x)
	return buffer
}

// valueOf converts numbers to a node's value in the graph's own precision.
func (r *Reference) valueOf(n *gorgonia.Node, numbers []float32) (gorgonia.Value, error) {
	if want := max(1, n.Shape().TotalSize()); len(numbers) != want {
		return nil, fmt.Errorf("node %q: %d values given, %d needed", r.label(n), len(numbers), want)
	}
	wide := make([]float64, len(numbers))
	for i, v := range numbers {
		wide[i] = float64(v)
	}
	return valueLike(n, n.Dtype(), wide), nil
}

// valueLike makes a value of a node's shape and of type t.
func valueLike(n *gorgonia.Node, t tensor.Dtype, numbers []float64) gorgonia.Value {
	double := t == tensor.Float64
	switch t {
	case tensor.Int:
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(integers[int](numbers)))
	case tensor.Int32:
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(integers[int32](numbers)))
	case tensor.Int64:
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(integers[int64](numbers)))
	}
	switch {
	case n.IsScalar() && double:
		return gorgonia.NewF64(numbers[0])
	case n.IsScalar():
		return gorgonia.NewF32(float32(numbers[0]))
	case double:
		return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(numbers))
	}
	narrow := make([]float32, len(numbers))
	for i, e := range numbers {
		narrow[i] = float32(e)
	}
	return tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(narrow))
}

// integers truncates numbers towards zero.
func integers[T int | int32 | int64](numbers []float64) []T {
	out := make([]T, len(numbers))
	for i, v := range numbers {
		out[i] = T(v)
	}
	return out
}

// try evaluates a made-up sample, and made-up parameters where the graph binds none. Operations that always fail then
// fail before training, and Gorgonia's message may be shown, because no real sample is in it.
func (r *Reference) try(initial [][]float32) error {
	k := 0
	madeUp := func(nodes gorgonia.Nodes, scale float64) [][]float32 {
		var out [][]float32
		for _, n := range nodes {
			x := make([]float32, max(1, n.Shape().TotalSize()))
			for i := range x {
				k++
				_, fraction := math.Modf(float64(k) * math.Phi)
				x[i] = float32(scale * (0.1 + 0.8*fraction))
			}
			out = append(out, x)
		}
		return out
	}
	inputs := madeUp(r.inputs, 1)
	if initial == nil {
		initial = madeUp(r.params, 0.1)
	}
	at, err := r.Bind(initial)
	if err != nil {
		return err
	}
	_, err = r.gradient(at, inputs)
	if err == nil && r.output != nil {
		_, err = r.Output(at, inputs)
	}
	var failed *evaluationError
	if errors.As(err, &failed) {
		return fmt.Errorf("%w: %w", failed, oneLine(failed.cause))
	}
	return err
}
