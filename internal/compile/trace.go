package compile

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// class is the way in which a node depends on the batch.
type class uint8

const (
	batched class = iota // one row for each sample
	shared               // a parameter or constant, the same for all samples
	scalar               // a number that the graph fixes
	summed               // a sum over the batch: a cost, or a term of one
)

// traced is the compiler's knowledge of a node.
type traced struct {
	class class

	// batched: value id, of this shape for one sample. If folded, the node's first axis is batch × shape[0]; otherwise
	// it is the batch, which shape leaves out. divided: the last operation divided it by a number equal to the batch
	// size.
	id      ID
	shape   []int
	folded  bool
	divided bool

	// shared: along its first axis the node repeats the same values for each sample of the graph's batch, as a state of
	// zeros does, and isn't repeated by a Broadcast…, unless by the length of such a node. scalar: it is that length.
	repeats bool

	// shared: square is 1 + the parameter whose elements it squares, each once, or 0.
	square int

	// shared: the node is value id seen through view, whose shape is shape. overBatch: it was repeated along the batch,
	// whose axis shape leaves out unless folded.
	view      View
	overBatch bool

	// scalar: number, times the count of samples if ofBatch. constant: the graph states it as a number instead of
	// reading it off a shape.
	number   float64
	ofBatch  bool
	constant bool

	// summed: Σ_k factor_k Σ_batch Σ_elements value_k; partial while some axes aren't summed yet. mean: the same
	// divided by the batch size, which training does.
	terms   []term
	partial bool
	mean    bool

	// shared or summed: the sum of squares of parameters that the node is or includes.
	norms []norm
}

// term is a factor times the sum of a value's elements over the batch.
type term struct {
	id     ID
	factor float64
}

// product returns the number of elements of a shape.
func product(shape []int) int { return tensor.ProdInts(shape) }

// tracer lowers a graph, node by node, into a program's values and forward instructions.
type tracer struct {
	batch int
	prog  *Program
	memo  map[*gorgonia.Node]traced
	needs map[ID]bool // values that depend on a parameter
	at    *gorgonia.Node
	code  []Instruction

	prepare []Instruction   // derived values
	factors map[ID]factored // of a derived value that is a product of two matrices
}

// value adds a value to the program and sets its Size.
func (t *tracer) value(v Value) ID {
	v.Size = product(v.Shape)
	t.prog.Values = append(t.prog.Values, v)
	return ID(len(t.prog.Values) - 1)
}

// buffer adds a buffer of the given shape for one sample.
func (t *tracer) buffer(name string, shape []int) ID {
	return t.value(Value{Name: name, Kind: Buffer, Shape: append([]int(nil), shape...)})
}

// emit appends a forward instruction whose result is a new buffer, and returns the buffer.
func (t *tracer) emit(n *gorgonia.Node, shape []int, in Instruction) ID {
	in.Out = t.buffer(graph.Name(n), shape)
	if in.Op != MaxPool {
		in.Where = None
	}
	if slices.ContainsFunc(in.In, func(id ID) bool { return t.needs[id] }) {
		t.needs[in.Out] = true
	}
	t.code = append(t.code, in)
	return in.Out
}

// trace lowers a node and all that it depends on, each node once.
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

// lower lowers a node by its operation's rule, or adds a constant. Inputs and parameters are declared before.
func (t *tracer) lower(n *gorgonia.Node) (traced, error) {
	t.at = n
	op := n.Op()
	if op == nil {
		return t.constant(n) // inputs and parameters were declared
	}
	kind := graph.Kind(op)
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
		return traced{}, refused(n)
	}
	var in []traced
	for _, c := range graph.Children(n) {
		v, err := t.trace(c)
		if err != nil {
			return traced{}, err
		}
		in = append(in, v)
	}
	t.at = n
	if t.integers(in...) && kind != "reshapeOp" && kind != "byIndicesOp" {
		return traced{}, readsIntegers(n)
	}
	for _, v := range in {
		if err := ofSamples(n, kind, v); err != nil {
			return traced{}, err
		}
	}
	switch kind {
	case "reshapeOp", "transposeOp", "sliceOp", "softmaxOp":
		if in[0].overBatch {
			var err error
			if in[0], err = t.batchedCopy(n, in[0], graph.Shape(graph.Children(n)[0])); err != nil {
				return traced{}, err
			}
		}
	}
	v, err := rule(t, n, in)
	if err != nil {
		return traced{}, err
	}
	return v, t.check(n, v)
}

// ofSamples refuses numbers and sums over the batch as operands of rules that don't accept them.
func ofSamples(n *gorgonia.Node, kind string, v traced) error {
	switch kind {
	case "elemUnaryOp", "elemBinOp", "maxBetween", "minBetween", "sumOp", "reshapeOp", "transposeOp", "sizeOp", "Iop":
		return nil
	case "repeatOp":
		if v.class == scalar { // the count is a scalar too
			return nil
		}
	}
	switch {
	case v.class == scalar:
		return refuse(n, "its operand is a number", "NewConstant of a tensor")
	case v.class != summed:
		return nil
	case kind == "softmaxOp" || kind == "maxOp" || kind == "maxPoolOp" || kind == "GroupNormOp":
		return mixes(n, ofSum)
	case kind == "linAlgBinOp":
		return nil
	}
	return ofPartialSum(n)
}

const ofSum = "it is applied to a sum over the batch; only the final cost may be one"

// integers reports whether any operand holds integers. They index rows of tables, and no other rule computes with them.
func (t *tracer) integers(in ...traced) bool {
	return slices.ContainsFunc(in, func(v traced) bool {
		return v.class == batched && t.prog.Values[v.id].Type != Float32
	})
}

// check compares the compiler's count of a node's values with Gorgonia's.
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
		return fmt.Errorf("%w: node %q has %d values and was taken for %d: a fault of dptrain", ErrSource, graph.Label(n), want, got)
	}
	return nil
}

// constant lowers one of Gorgonia's constants: a scalar to a number, a tensor to a value of the program.
func (t *tracer) constant(n *gorgonia.Node) (traced, error) {
	data, err := graph.Floats(n)
	if err != nil {
		return traced{}, refuse(n, "it holds no floating-point numbers", "constants of floating-point numbers, and Slice and Concat to pick by constants")
	}
	for i, v := range data {
		data[i] = max(v, masked)
	}
	if n.IsScalar() {
		return traced{class: scalar, number: float64(data[0]), constant: true}, nil
	}
	shape := graph.Shape(n)
	id := t.value(Value{Name: graph.Label(n), Kind: Const, Shape: shape, Data: data})
	each := len(data) / t.batch // values of a sample, if the first axis is the batch's
	repeats := shape[0]%t.batch == 0 && slices.Equal(data[each:], data[:len(data)-each])
	return traced{class: shared, id: id, shape: shape, view: ViewOf(shape), repeats: repeats}, nil
}

// masked stands for -Inf in a constant: a masked score, whose softmax is 0. It is finite, so that scores that are all
// masked have a softmax too, and the sum or the multiple of several is.
const masked = -0x1p100

// axis converts an axis of a batched node to one of its per-sample shape. Axis 0 is the batch's; in a folded node it is
// the per-sample shape's first too.
func (v traced) axis(a int) (perSample int, ofBatch bool) {
	if v.folded {
		return a, a == 0
	}
	return a - 1, a == 0
}

// spreadOver returns the view of a shared value that broadcasts it to a batched operand of the given per-sample shape,
// and whether the shapes match.
func (v traced) spreadOver(shape []int) (View, bool) {
	if len(v.shape) == 0 {
		return View{v.view.Offset, slices.Clone(shape), make([]int, len(shape))}, true
	}
	return v.view, slices.Equal(v.shape, shape)
}
