package compile

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// concat lowers concatenation along a sample's own axis: each part is added to its range of the result, which begins as
// zeros.
func concat(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	below, axis := graph.Children(n), graph.FieldsOf(n.Op()).Int("axis")
	if !slices.ContainsFunc(in, func(v traced) bool { return v.class != shared || v.overBatch }) {
		return t.concatShared(n, in, axis)
	}
	if axis == 0 {
		return traced{}, refuse(n, "it lays the samples of its operands one after another along the batch axis", "Concat along another axis")
	}
	parts := slices.Clone(in)
	for i, v := range in {
		var err error
		if parts[i], err = t.batchedCopy(n, v, graph.Shape(below[i])); err != nil {
			return traced{}, err
		}
	}
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	out.id = t.buffer(graph.Name(n), out.shape)
	own, _ := out.axis(axis)
	var pieces [][]int
	for i := range parts {
		shape := slices.Clone(out.shape)
		shape[own] = below[i].Shape()[axis]
		pieces = append(pieces, shape)
	}
	for i, view := range sideBySide(out.shape, pieces, own) {
		t.needs[out.id] = t.needs[out.id] || t.needs[parts[i].id]
		t.code = append(t.code, Instruction{Op: Scatter, In: []ID{parts[i].id}, Out: out.id, Where: None, View: view, Accumulate: i > 0})
	}
	return out, nil
}

// concatShared concatenates shared values.
func (t *tracer) concatShared(n *gorgonia.Node, in []traced, axis int) (traced, error) {
	var pieces [][]int
	for _, v := range in {
		pieces = append(pieces, v.shape)
	}
	shape := graph.Shape(n)
	id := t.value(Value{Name: graph.Name(n), Kind: Derived, Shape: shape})
	for i, view := range sideBySide(shape, pieces, axis) {
		part := t.whole(n, in[i])
		t.needs[id] = t.needs[id] || t.needs[part]
		t.prepare = append(t.prepare, Instruction{Op: Scatter, In: []ID{part}, Out: id, Where: None, View: view, Accumulate: i > 0})
	}
	return traced{class: shared, id: id, shape: shape, view: ViewOf(shape)}, nil
}

// sideBySide returns the views of a whole in which pieces follow one another along an axis.
func sideBySide(whole []int, pieces [][]int, axis int) []View {
	var out []View
	at := ViewOf(whole)
	from := 0
	for _, p := range pieces {
		out = append(out, at.sliced(axis, from, p[axis], 1))
		from += p[axis]
	}
	return out
}

// upsample lowers the repetition of each pixel along rows and columns.
func upsample(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, out, count, err := t.images(n, in[0])
	if err != nil {
		return traced{}, err
	}
	c, h, w := count*v.shape[0], v.shape[1], v.shape[2]
	times := graph.Shape(n)[2] / h
	view := View{Shape: []int{c, h, times, w, times}, Strides: []int{h * w, w, 0, 1, 0}}
	out.id = t.emit(n, out.shape, Instruction{Op: Gather, In: []ID{v.id}, View: view})
	return out, nil
}

// globalAverage lowers the mean over an image's rows and columns.
func globalAverage(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, out, count, err := t.images(n, in[0])
	if err != nil {
		return traced{}, err
	}
	view, left := summing([]int{count * v.shape[0], v.shape[1], v.shape[2]}, []int{1, 2})
	total := t.emit(n, left, Instruction{Op: Scatter, In: []ID{v.id}, View: view})
	out.id = t.emit(n, out.shape, Instruction{Op: BinaryScalar, Func: Div, In: []ID{total}, Scalar: float32(v.shape[1] * v.shape[2])})
	return out, nil
}

// groupNorm lowers the normalisation of groups of channels.
func groupNorm(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, out, count, err := t.images(n, in[0])
	if err != nil {
		return traced{}, err
	}
	f := graph.FieldsOf(n.Op())
	groups := f.Int("numGroups")
	if groups < 1 || v.shape[0]%groups != 0 {
		return traced{}, refuse(n, fmt.Sprintf("%d channels aren't %d groups of one size", v.shape[0], groups), "a number of groups that divides that of channels")
	}
	out.id = t.emit(n, out.shape, Instruction{
		Op: Normalize, In: []ID{v.id}, Rows: count * groups, K: product(v.shape) / groups, Scalar: float32(f.Float("epsilon")),
	})
	return out, nil
}
