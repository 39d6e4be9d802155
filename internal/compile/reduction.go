package compile

import (
	"slices"

	"gorgonia.org/gorgonia"
)

// sum lowers sums. A sum over the batch axis and all others is a cost, or a term of one; Gorgonia may take it in two
// steps, batch first. A sum over a sample's own axes adds along a view whose strides there are 0.
func sum(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	along := fieldsOf(n.Op()).ints("along")
	switch v.class {
	case summed:
		if !n.IsScalar() {
			return traced{}, noRule(n, "a sum over the batch must be summed over all its other axes")
		}
		v.partial = false
		return v, nil
	case batched:
	default:
		return traced{}, noRule(n, "")
	}
	if slices.Contains(along, 0) {
		if v.folded && t.batch == 1 && !n.IsScalar() {
			return traced{}, noRule(n, "it sums over a sample's rows")
		}
		if v.divided {
			return traced{}, t.dividedTwice(n)
		}
		return traced{class: summed, terms: []term{{v.id, 1}}, partial: !n.IsScalar()}, nil
	}
	out := v
	out.shape = nil
	// Summed axes keep the stride 0.
	into := View{Shape: slices.Clone(v.shape), Strides: make([]int, len(v.shape))}
	var kept []int
	for axis, length := range v.shape {
		if !slices.ContainsFunc(along, func(a int) bool { summed, _ := v.axis(a); return summed == axis }) {
			out.shape, kept = append(out.shape, length), append(kept, axis)
		}
	}
	for i, stride := range ViewOf(out.shape).Strides {
		into.Strides[kept[i]] = stride
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Scatter, In: []ID{v.id}, View: into})
	return out, nil
}

// softmax lowers softmax and log softmax over the last axis. Over the batch axis they mix samples.
func softmax(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	if v.class != batched {
		return traced{}, noRule(n, "")
	}
	f := fieldsOf(n.Op())
	dims, axis := len(n.Shape()), softmaxAxis(n)
	if axis == 0 && v.folded && t.batch == 1 {
		return traced{}, noRule(n, "it normalises over a sample's rows")
	}
	if axis == 0 {
		return traced{}, mixes(n, "it normalises over the batch axis")
	}
	if axis != dims-1 {
		return traced{}, noRule(n, "only the last axis has one")
	}
	k := v.shape[len(v.shape)-1]
	op := Softmax
	if f.bool("isLog") {
		op = LogSoftmax
	}
	out := v
	out.divided = false
	out.id = t.emit(n, v.shape, Instruction{Op: op, In: []ID{v.id}, Rows: product(v.shape) / k, K: k})
	return out, nil
}
