package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Values computed from parameters and constants alone are the same for all samples. Instructions of Prepare compute
// them, once for all samples; their per-sample gradients are propagated to the parameters sample by sample.

const shapesDiffer = "its operands' shapes differ"

// norm is a factor times the sum of the squares of a parameter, which belongs to no sample's cost: weight decay. ofSum:
// it was added before the cost was divided by the batch size.
type norm struct {
	param int
	by    float64
	ofSum bool
}

func scaledNorms(norms []norm, by float64) []norm {
	out := slices.Clone(norms)
	for i := range out {
		out[i].by *= by
	}
	return out
}

// derive emits an instruction of Prepare and returns its result.
func (t *tracer) derive(n *gorgonia.Node, shape []int, in Instruction) traced {
	in.Out, in.Where = t.value(Value{Name: graph.Name(n), Kind: Derived, Shape: slices.Clone(shape)}), None
	if slices.ContainsFunc(in.In, func(id ID) bool { return t.needs[id] }) {
		t.needs[in.Out] = true
	}
	t.prepare = append(t.prepare, in)
	return traced{class: shared, id: in.Out, shape: slices.Clone(shape), view: ViewOf(shape)}
}

// deriveLike derives a value of the shape of v, repeated along the batch as v is.
func (t *tracer) deriveLike(n *gorgonia.Node, v traced, in Instruction) traced {
	out := t.derive(n, v.shape, in)
	out.overBatch, out.folded, out.repeats = v.overBatch, v.folded, v.repeats
	return out
}

// whole returns a value that holds the elements of a shared value in order: the value itself or a copy.
func (t *tracer) whole(n *gorgonia.Node, v traced) ID {
	if v.view.contiguous() && v.view.Size() == t.prog.Values[v.id].Size {
		return v.id
	}
	return t.derive(n, v.shape, Instruction{Op: Gather, In: []ID{v.id}, View: v.view}).id
}

// alongBatch returns a shared value as one that is repeated along the batch, for use beside a batched value. A number
// is repeated along every axis, and a constant that repeats along the batch has one sample's values. At a batch of one,
// a first axis of length one is the batch axis, and a folded operand has no other batch axis.
func (t *tracer) alongBatch(n *gorgonia.Node, v traced, folded bool) (traced, error) {
	switch {
	case v.overBatch, len(v.shape) == 0:
	case !folded && t.batch == 1 && v.shape[0] == 1, !folded && v.repeats && v.shape[0] == t.batch:
		v.view = v.view.sliced(0, 0, 1, 1).without(0)
		v.shape = v.view.Shape
	case folded && v.repeats && v.shape[0] > t.batch:
		v.view = v.view.sliced(0, 0, v.shape[0]/t.batch, 1)
		v.shape = v.view.Shape
	default:
		return v, refuse(n, "it gives each place in the batch a parameter, or a constant, of its own", perBatchAxis)
	}
	return v, nil
}

// batchedCopy copies a shared value for each sample. shape is the node's own, with the batch axis.
func (t *tracer) batchedCopy(n *gorgonia.Node, v traced, shape []int) (traced, error) {
	if v.class == batched {
		return v, nil
	}
	if !v.overBatch && shape[0]%t.batch != 0 {
		return v, refuse(n, "its operand is a parameter, or a constant, that isn't repeated along the batch", perBatchAxis)
	}
	out, err := t.perSample(n, shape)
	if err != nil {
		return v, err
	}
	if v, err = t.alongBatch(n, v, out.folded); err != nil {
		return v, err
	}
	out.shape = slices.Clone(v.shape)
	out.id = t.emit(n, v.shape, Instruction{Op: Gather, In: []ID{v.id}, View: v.view})
	return out, nil
}

// sharedArithmetic lowers an elementwise function of shared values, one of which may be a number.
func (t *tracer) sharedArithmetic(n *gorgonia.Node, f Func, a, b traced) (traced, error) {
	if a.class == scalar || b.class == scalar {
		x, s, swap := a, b, false
		if a.class == scalar {
			x, s, swap = b, a, true
		}
		out := t.deriveLike(n, x, Instruction{Op: BinaryScalar, Func: f, In: []ID{t.whole(n, x)}, Scalar: float32(s.number), Swap: swap})
		switch {
		case f == Mul:
			out.norms = scaledNorms(x.norms, s.number)
		case f == Div && !swap:
			out.norms = scaledNorms(x.norms, 1/s.number)
		}
		return out, nil
	}
	out := a
	if len(a.shape) == 0 || b.overBatch && !a.overBatch {
		out = b
	}
	var ids [2]ID
	for i, v := range [2]traced{a, b} {
		if out.overBatch {
			var err error
			if v, err = t.alongBatch(n, v, out.folded); err != nil {
				return traced{}, err
			}
		}
		view, ok := v.spreadOver(out.shape)
		if !ok {
			return traced{}, refuse(n, shapesDiffer, "operands of one shape")
		}
		ids[i] = t.whole(n, traced{id: v.id, shape: out.shape, view: view})
	}
	result := t.deriveLike(n, out, Instruction{Op: Binary, Func: f, In: ids[:]})
	result.repeats = (a.repeats || len(a.shape) == 0) && (b.repeats || len(b.shape) == 0)
	p := t.prog.Values[a.id]
	switch {
	case f == Mul && a.id == b.id && p.Kind == Param && a.view.rearranges(p.Size) && equalViews(a.view, b.view):
		result.square = 1 + p.Index
	case f == Add && a.norms != nil && b.norms != nil:
		result.norms = addedNorms(a.norms, b.norms)
	case f == Sub && a.norms != nil && b.norms != nil:
		result.norms = addedNorms(a.norms, scaledNorms(b.norms, -1))
	}
	return result, nil
}

func equalViews(a, b View) bool {
	return a.Offset == b.Offset && slices.Equal(a.Shape, b.Shape) && slices.Equal(a.Strides, b.Strides)
}

// sumShared lowers a sum over axes of a shared value.
func (t *tracer) sumShared(n *gorgonia.Node, v traced, along []int) (traced, error) {
	if v.overBatch {
		if slices.Contains(along, 0) {
			return traced{}, refuse(n, "it sums a parameter over the batch, which counts it as often as there are samples", "the parameter itself, times a number")
		}
		copied, err := t.batchedCopy(n, v, graph.Shape(graph.Children(n)[0]))
		if err != nil {
			return traced{}, err
		}
		return t.sumOwn(n, copied, copied.own(along))
	}
	view, shape := summing(v.shape, along)
	out := t.derive(n, shape, Instruction{Op: Scatter, In: []ID{t.whole(n, v)}, View: view})
	if v.square > 0 && len(shape) == 0 {
		out.norms = []norm{{param: v.square - 1, by: 1}}
	}
	return out, nil
}

// meanOf divides a cost by a number of elements of the whole batch. Training divides by the expected batch size, so
// the cost is divided by the rest of the number only.
func (t *tracer) meanOf(cost traced, number float64) traced {
	own := float64(t.batch) / number
	out := cost.scaled(own)
	out.mean = true
	for i := range out.norms {
		out.norms[i].ofSum = true
	}
	return out
}

// withDecay adds or subtracts a and b, one a sum of squares of parameters, the other a cost or such a sum.
func (t *tracer) withDecay(f Func, a, b traced) traced {
	if f == Sub {
		if b.class == summed {
			b = b.scaled(-1)
		} else {
			b.norms = scaledNorms(b.norms, -1)
		}
	}
	if b.class == summed {
		a, b = b, a
	}
	a.norms = addedNorms(a.norms, b.norms)
	return a
}
