package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// sum lowers sums. A sum over the batch axis and all others is a cost, or a term of one; Gorgonia may take it in two
// steps, batch first. A sum over a sample's own axes adds along a view whose strides there are 0.
func sum(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	along := graph.FieldsOf(n.Op()).Ints("along")
	switch v.class {
	case summed:
		if !n.IsScalar() {
			return traced{}, refuse(n, "it leaves axes of a sum over the batch", allAtOnce)
		}
		v.partial = false
		return v, nil
	case shared:
		return t.sumShared(n, v, along)
	case scalar:
		return v, nil
	}
	if slices.Contains(along, 0) {
		if v.divided {
			return traced{}, t.dividedTwice(n)
		}
		return traced{class: summed, terms: []term{{v.id, 1}}, partial: !n.IsScalar()}, nil
	}
	return t.sumOwn(n, v, v.own(along))
}

// sameForAll is the reason for refusing an operand computed from parameters and constants alone.
const sameForAll = "its operand is the same for all samples"

const allAtOnce = "Sum over all axes at once"

// own converts axes of a batched node to axes of a sample's shape.
func (v traced) own(axes []int) []int {
	var out []int
	for _, a := range axes {
		own, _ := v.axis(a)
		out = append(out, own)
	}
	return out
}

// sumOwn emits a sum over axes of a sample's own.
func (t *tracer) sumOwn(n *gorgonia.Node, v traced, axes []int) (traced, error) {
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	view, _ := summing(v.shape, axes)
	out.id, out.divided = v.id, v.divided
	if product(out.shape) == product(v.shape) { // of axes of length one
		return out, nil
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Scatter, In: []ID{v.id}, View: view})
	return out, nil
}

// summing returns the view by which a scatter sums over axes, and the remaining shape.
func summing(shape, axes []int) (View, []int) {
	into := View{Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	left, kept := slicesWithout(shape, axes)
	for i, stride := range ViewOf(left).Strides {
		into.Strides[kept[i]] = stride
	}
	return into, left
}

// maxAlong lowers a maximum along a sample's own axes, by a pooling whose window is all of them.
func maxAlong(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	along := graph.FieldsOf(n.Op()).Ints("along")
	switch {
	case v.class != batched:
		return traced{}, refuse(n, sameForAll, "it on values of samples")
	case slices.Contains(along, 0):
		return traced{}, mixes(n, "it takes the maximum of all samples")
	}
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	axes := v.own(along)
	shape, kept := slicesWithout(v.shape, axes)
	length := product(v.shape) / product(shape)
	id, outer, inner := v.id, product(shape), 1
	if first := slices.Min(axes); contiguousAxes(axes) {
		outer = product(v.shape[:first])
		inner = product(shape) / outer
	} else {
		id = t.permute(n, v, slices.Concat(kept, axes)).id
	}
	window := &Window{
		C: outer, H: length, W: inner, KH: length, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
		OutC: outer, OutH: 1, OutW: inner,
	}
	where := t.value(Value{Name: "places of maxima", Kind: Buffer, Type: Int32, Shape: slices.Clone(out.shape)})
	out.id = t.emit(n, out.shape, Instruction{Op: MaxPool, In: []ID{id}, Where: where, Window: window})
	return out, nil
}

// contiguousAxes reports whether axes follow one another, in any order.
func contiguousAxes(axes []int) bool {
	return slices.Max(axes)-slices.Min(axes) == len(axes)-1
}

// softmax lowers softmax and log softmax. Over the batch axis they mix samples.
func softmax(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, axis := in[0], graph.SoftmaxAxis(n)
	op := Softmax
	if graph.FieldsOf(n.Op()).Bool("isLog") {
		op = LogSoftmax
	}
	if v.class == shared {
		return t.sharedSoftmax(n, v, op, axis)
	}
	own, ofBatch := v.axis(axis)
	if ofBatch {
		return traced{}, mixes(n, "it normalises over the batch axis")
	}
	out := v
	out.divided = false
	along, back := lastAxis(len(v.shape), own)
	if along != nil {
		out = t.permute(n, out, along)
	}
	k := v.shape[own]
	out.id = t.emit(n, out.shape, Instruction{Op: op, In: []ID{out.id}, Rows: product(v.shape) / k, K: k})
	if k == 1 { // the same whatever its operand, as a loss between samples is at a batch of one
		delete(t.needs, out.id)
	}
	if back != nil {
		out = t.permute(n, out, back)
	}
	return out, nil
}

// sharedSoftmax lowers a softmax, or log softmax, of a shared value.
func (t *tracer) sharedSoftmax(n *gorgonia.Node, v traced, op Op, axis int) (traced, error) {
	along, back := lastAxis(len(v.shape), axis)
	if along != nil {
		v.view, v.shape = v.view.permuted(along), permuted(v.shape, along)
	}
	k := v.shape[len(v.shape)-1]
	out := t.derive(n, v.shape, Instruction{Op: op, In: []ID{t.whole(n, v)}, Rows: product(v.shape) / k, K: k})
	if back != nil {
		out.view, out.shape = out.view.permuted(back), permuted(out.shape, back)
	}
	return out, nil
}

// lastAxis returns the permutation that puts an axis last, and its inverse; nil if the axis is last already.
func lastAxis(dims, axis int) (there, back []int) {
	if axis == dims-1 {
		return nil, nil
	}
	for a := range dims {
		if a != axis {
			there = append(there, a)
		}
	}
	there = append(there, axis)
	back = make([]int, dims)
	for i, a := range there {
		back[a] = i
	}
	return there, back
}
