package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// reshape lowers a change of shape without moving data. A batched value must keep the batch in front; a shared one
// needs a view of the new shape.
func reshape(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	to := graph.Shape(n)
	switch v.class {
	case shared:
		view, ok := v.view.reshaped(to)
		if !ok {
			v.id = t.whole(n, v)
			view = ViewOf(to)
		}
		v.view, v.shape, v.repeats = view, to, v.repeats && len(to) > 0 && to[0]%t.batch == 0
		return v, nil
	case batched:
		out, err := t.perSample(n, to)
		v.shape, v.folded = out.shape, out.folded
		return v, err
	}
	return v, nil // a number, or a sum over the batch, which has one row
}

// awayFromFirst is the reason for refusing a batch that isn't the first axis any more. Moving it mixes nothing.
const awayFromFirst = "it moves the batch away from the first axis, where samples are followed"

// awayError returns the error for a node whose first axis is neither the batch's nor the rows of all samples.
func awayError(n *gorgonia.Node) error {
	return refuse(n, awayFromFirst, "shapes and orders of axes with the batch in front")
}

// perSample returns a batched node without a value, of the shape for one sample. Values are row-major with the batch
// outermost, so that a first axis whose length is a multiple of the batch holds whole samples; the node is then folded.
func (t *tracer) perSample(n *gorgonia.Node, shape []int) (traced, error) {
	if len(shape) == 0 || shape[0]%t.batch != 0 {
		return traced{}, awayError(n)
	}
	if shape[0] == t.batch {
		return traced{class: batched, shape: shape[1:]}, nil
	}
	out := traced{class: batched, shape: slices.Clone(shape), folded: true}
	out.shape[0] /= t.batch
	return out, nil
}

// transpose lowers a permutation of axes. A shared value gets another view; a batched one, whose batch axis must stay
// in front, is copied.
func transpose(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	pattern := graph.FieldsOf(n.Op()).Ints("pattern")
	switch v.class {
	case shared:
		v.view, v.shape = v.view.permuted(pattern), permuted(v.shape, pattern)
		v.repeats = v.repeats && pattern[0] == 0
		return v, nil
	case batched:
		if len(pattern) == 0 || pattern[0] != 0 {
			return traced{}, awayError(n)
		}
		axes := slices.Clone(pattern)
		if !v.folded {
			axes = axes[1:]
			for i := range axes {
				axes[i]--
			}
		}
		return t.permute(n, v, axes), nil
	}
	return v, nil // a number, or a sum over the batch, has one element
}

// permute emits a copy of a batched value with its axes in another order.
func (t *tracer) permute(n *gorgonia.Node, v traced, axes []int) traced {
	shape := permuted(v.shape, axes)
	v.id = t.emit(n, shape, Instruction{Op: Gather, In: []ID{v.id}, View: ViewOf(v.shape).permuted(axes)})
	v.shape = shape
	return v
}

// permuted returns the axes' lengths, or strides, in the new order of axes.
func permuted(shape, axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = shape[a]
	}
	return out
}

// sizeOf lowers the length of an axis to a number and marks the batch's length. Division by it, as in a Mean over the
// batch, is left to training.
func sizeOf(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f := graph.FieldsOf(n.Op())
	size := float64(graph.Children(n)[0].Shape()[f.Int("axis")])
	_, ofBatch := in[0].axis(f.Int("axis"))
	isBatch := ofBatch && (in[0].class == batched || in[0].overBatch)
	repeats := in[0].class == shared && in[0].repeats && f.Int("axis") == 0 // a number has no rows that repeat
	return traced{class: scalar, number: size, ofBatch: isBatch, repeats: repeats}, nil
}

const perBatchAxis = "Broadcast… of a parameter along the batch axis alone"

// repeat lowers the repetition of an axis of length one, by which Gorgonia broadcasts.
func repeat(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, count := in[0], in[1]
	along := graph.FieldsOf(n.Op()).Int("along")
	from, to := graph.Shape(graph.Children(n)[0]), graph.Shape(n)
	if count.class != scalar || along < 0 || along >= len(from) || from[along] != 1 || len(from) != len(to) {
		return traced{}, refuse(n, "it repeats an axis that isn't of length one", "Concat, or Broadcast… of an axis of length one")
	}
	switch {
	case v.class == shared && count.ofBatch:
		switch {
		case along != 0:
			return traced{}, ofBatchSize(n)
		case v.overBatch: // at a batch of one it is repeated already
			return v, nil
		}
		out, err := t.perSample(n, to)
		if err != nil {
			return traced{}, err
		}
		v.view = v.view.without(0)
		if out.folded {
			v.view = v.view.times(out.shape[0])
		}
		v.shape, v.folded, v.overBatch = out.shape, out.folded, true
		v.square, v.norms = 0, nil // one for each sample of the batch: no decay
		return v, nil
	case count.ofBatch:
		return traced{}, refuse(n, "it repeats a value of samples by the batch size", perBatchAxis)
	case v.class == shared:
		axis := along
		if v.overBatch && !v.folded {
			axis--
		}
		if axis < 0 {
			return traced{}, refuse(n, "it repeats the batch axis", perBatchAxis)
		}
		v.view = v.view.repeated(axis, to[along])
		v.shape, v.square, v.norms = v.view.Shape, 0, nil
		v.repeats = v.repeats && along > 0 || count.repeats && along == 0
		return v, nil
	}
	axis, ofBatch := v.axis(along)
	switch {
	case ofBatch:
		return traced{}, refuse(n, "it repeats the batch axis", perBatchAxis)
	case to[along] == 1:
		return v, nil
	}
	out, view := v, ViewOf(v.shape).repeated(axis, to[along])
	out.shape = view.Shape
	out.id = t.emit(n, out.shape, Instruction{Op: Gather, In: []ID{v.id}, View: view})
	return out, nil
}

// slice lowers a range of one axis, with a step. The batch axis allows the whole range only.
func slice(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, s := in[0], graph.SliceOf(n.Op())
	along := graph.FieldsOf(n.Op()).Int("along")
	if s == nil {
		return v, nil
	}
	step := max(s.Step(), 1)
	length := sliceLength(s, graph.Shape(graph.Children(n)[0])[along])
	if shape := graph.Shape(n); len(shape) == len(graph.Shape(graph.Children(n)[0])) && shape[along] != length {
		return traced{}, refuse(n, shortened, "a range whose length is a multiple of its step")
	}
	if v.class == shared {
		out := traced{class: shared, id: v.id, repeats: v.repeats && along > 0}
		out.view = v.view.sliced(along, s.Start(), length, step)
		if out.shape = graph.Shape(n); len(out.shape) < len(v.shape) {
			out.view = out.view.without(along)
		}
		return out, nil
	}
	axis, ofBatch := v.axis(along)
	if ofBatch {
		if !v.folded && slices.Equal(graph.Shape(n), graph.Shape(graph.Children(n)[0])) {
			return v, nil // all of it
		}
		return traced{}, byPlace(n)
	}
	view := ViewOf(v.shape).sliced(axis, s.Start(), length, step)
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Gather, In: []ID{v.id}, View: view})
	return out, nil
}

// shortened is the reason for refusing a range whose step doesn't divide its length. Gorgonia's shape counts whole
// steps; on all axes but the first its machine takes the last element too.
const shortened = "its step doesn't divide its range, whose last element Gorgonia counts on no axis and takes on some"

// byPlace returns the error for taking some samples by their positions in the batch, which depend on draws.
func byPlace(n *gorgonia.Node) error {
	return refuse(n, "it picks samples out of the batch by their places", "all samples, and an input that says which count")
}

// sliceLength returns the number of elements of a range of an axis, to which Gorgonia clips it.
func sliceLength(s tensor.Slice, axis int) int {
	step := max(s.Step(), 1)
	return (min(s.End(), axis) - s.Start() + step - 1) / step
}
