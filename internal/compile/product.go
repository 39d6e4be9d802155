package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

const repeated = "its operand is a parameter, or a constant, that is repeated along the batch"

const contracts = "it contracts the batch axis; put the batch first, as in Mul(x, w)"

// multiply lowers products. A product of two matrices contracts an axis of each: if that is the batch axis, the product
// mixes samples. A dot product of two vectors over the batch is a sum over it, and a batched product multiplies each
// sample's own matrices.
func multiply(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f := graph.FieldsOf(n.Op())
	kind, transA, transB := graph.Operator(n.Op()), f.Bool("transA"), f.Bool("transB")
	x, w := in[0], in[1]
	switch {
	case x.class == summed && w.class == shared, x.class == shared && w.class == summed:
		return traced{}, ofPartialSum(n)
	case x.class == summed || w.class == summed:
		return traced{}, mixes(n, ofSum)
	case kind == graph.Outer:
		return t.outer(n, x, w)
	case kind == graph.Dot && x.class == shared && w.class == shared:
		out, err := t.sharedProduct(n, row(x), column(w), false, false)
		out.shape, out.view = nil, ViewOf(nil)
		return out, err
	case kind == graph.Dot:
		terms, err := t.elementwise(n, Mul, x, w)
		return traced{class: summed, terms: []term{{terms.id, 1}}}, err
	case kind == graph.Batched && n.Dims() > 2: // that of two matrices is their product
		return t.batchedProduct(n, x, w, transA, transB)
	case x.class == shared && w.class == shared:
		if kind == graph.MatVec {
			w = column(w)
		}
		out, err := t.sharedProduct(n, x, w, transA, transB)
		if kind == graph.MatVec && err == nil {
			out.shape = out.shape[:1]
			out.view = ViewOf(out.shape)
		}
		return out, err
	case x.class == batched && w.class == batched:
		return traced{}, mixes(n, "it multiplies values of all samples with one another")
	case w.class == batched && (transA || transB):
		return traced{}, refuse(n, "its result doesn't have the batch as its first axis", "Mul(x, w) with a batch-first x")
	case w.class == batched, transA:
		return traced{}, mixes(n, contracts)
	case w.overBatch:
		return traced{}, refuse(n, repeated, "the parameter itself")
	}
	return t.matMul(n, x, w, kind == graph.MatVec, transB)
}

// row and column return a vector as a matrix of one row or one column.
func row(v traced) traced {
	v.repeats = false
	v.shape, v.view = []int{1, v.view.Size()}, v.view.times(1)
	return v
}

func column(v traced) traced {
	v.shape = []int{v.view.Size(), 1}
	v.view = View{v.view.Offset, v.shape, []int{v.view.Strides[0], 0}}
	return v
}

// matMul lowers x·w for a batched x and a shared matrix, or vector. A folded x has several rows in each sample.
func (t *tracer) matMul(n *gorgonia.Node, x, w traced, vector, transB bool) (traced, error) {
	if vector {
		w = column(w)
	}
	k, cols := w.shape[0], w.shape[1]
	if transB {
		k, cols = cols, k
	}
	rows := 1
	if x.folded {
		rows = x.shape[0]
	}
	if product(x.shape) != rows*k {
		return traced{}, refuse(n, "its operands' shapes don't fit together", "operands of fitting shapes")
	}
	out := traced{class: batched, folded: x.folded}
	if x.folded {
		out.shape = append(out.shape, rows)
	}
	if !vector {
		out.shape = append(out.shape, cols)
	}
	out.id = t.multiplied(n, x.id, w, rows, k, cols, transB, out.shape)
	return out, nil
}

// multiplied emits x·w and returns the result. If w is a product of two matrices, x is multiplied by one after the
// other: then the parameters' gradients need not be materialized.
func (t *tracer) multiplied(n *gorgonia.Node, x ID, w traced, rows, k, cols int, transB bool, shape []int) ID {
	if f, ok := t.factors[w.id]; ok && f.count <= mostFactors {
		a, b, whole := f.a, f.b, t.prog.Values[w.id].Size
		// is reports whether w has the shape of a product, so that it wasn't reshaped.
		is := func(rows, cols traced) bool { return slices.Equal(w.shape, []int{rows.shape[0], cols.shape[1]}) }
		switch turned := w.view.permuted([]int{1, 0}); {
		case w.view.contiguous() && w.view.Size() == whole && !transB && is(a, b):
			inner := a.shape[1]
			h := t.multiplied(n, x, a, rows, k, inner, false, []int{rows, inner})
			return t.multiplied(n, h, b, rows, inner, cols, false, shape)
		case turned.contiguous() && w.view.Size() == whole && !transB && is(transposed(b), transposed(a)):
			// (a·b)ᵀ = bᵀ·aᵀ
			inner := a.shape[1]
			h := t.multiplied(n, x, transposed(b), rows, k, inner, false, []int{rows, inner})
			return t.multiplied(n, h, transposed(a), rows, inner, cols, false, shape)
		}
	}
	id := w.id
	switch whole := w.view.Size() == t.prog.Values[w.id].Size; {
	case whole && w.view.contiguous():
	case whole && w.view.permuted([]int{1, 0}).contiguous():
		transB = !transB
	default:
		id = t.whole(n, w)
	}
	return t.emit(n, shape, Instruction{Op: MatMul, In: []ID{x, id}, Rows: rows, K: k, N: cols, TransB: transB})
}

// mostFactors is the maximum number of matrices by which a batched value is multiplied one after another, in place of
// their product. The number may double with each node, as in w·w, its square, and so on.
const mostFactors = 16

// factored is a shared matrix that is the product of two, with the number of matrices in the whole product.
type factored struct {
	a, b  traced
	count int
}

// factorsOf returns the number of matrices whose product a shared matrix is, at most mostFactors + 1.
func (t *tracer) factorsOf(v traced) int {
	f, ok := t.factors[v.id]
	if !ok {
		return 1
	}
	return min(f.count, mostFactors+1)
}

// transposed returns the transpose of a shared matrix.
func transposed(v traced) traced {
	v.view, v.shape = v.view.permuted([]int{1, 0}), permuted(v.shape, []int{1, 0})
	return v
}

// sharedProduct lowers a product of two shared matrices.
func (t *tracer) sharedProduct(n *gorgonia.Node, a, b traced, transA, transB bool) (traced, error) {
	if a.overBatch || b.overBatch {
		return traced{}, refuse(n, repeated, "the parameter itself")
	}
	if transA {
		a = transposed(a)
	}
	if transB {
		b = transposed(b)
	}
	if len(a.shape) != 2 || len(b.shape) != 2 || a.shape[1] != b.shape[0] {
		return traced{}, refuse(n, "its operands' shapes don't fit together", "operands of fitting shapes")
	}
	shape := []int{a.shape[0], b.shape[1]}
	out := t.derive(n, shape, Instruction{
		Op: Product, In: []ID{t.whole(n, a), t.whole(n, b)}, Groups: 1, Rows: a.shape[0], K: a.shape[1], N: b.shape[1],
	})
	out.repeats = a.repeats && !transA
	t.factors[out.id] = factored{a, b, t.factorsOf(a) + t.factorsOf(b)}
	return out, nil
}

// outer refuses outer products: of two vectors over the batch, or of such a vector with a parameter.
func (t *tracer) outer(n *gorgonia.Node, x, w traced) (traced, error) {
	if x.class == batched && w.class == batched {
		return traced{}, mixes(n, "it multiplies values of all samples with one another")
	}
	return traced{}, refused(n)
}

// batchedProduct lowers a product of stacks of matrices, whose first axis counts samples or their rows.
func (t *tracer) batchedProduct(n *gorgonia.Node, x, w traced, transA, transB bool) (traced, error) {
	below := graph.Children(n)
	if x.class == shared && w.class == shared {
		return traced{}, refuse(n, "both of its operands are parameters", "Mul of two matrices")
	}
	a, b := graph.Shape(below[0]), graph.Shape(below[1])
	rows, k, inner, cols := a[len(a)-2], a[len(a)-1], b[len(b)-2], b[len(b)-1]
	if transA {
		rows, k = k, rows
	}
	if transB {
		inner, cols = cols, inner
	}
	if k != inner { // Gorgonia doesn't compare them
		return traced{}, refuse(n, "its operands' shapes don't fit together", "operands of fitting shapes")
	}
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	groups := product(out.shape) / (rows * cols)
	if w.class == shared && !transA {
		v, err := t.alongBatch(n, w, out.folded)
		if err != nil {
			return traced{}, err
		}
		if lead := len(v.shape) - 2; lead >= 0 && v.view.repeats(lead) {
			one := v
			one.shape, one.view = v.shape[lead:], View{v.view.Offset, v.view.Shape[lead:], v.view.Strides[lead:]}
			out.id = t.multiplied(n, x.id, one, groups*rows, k, cols, transB, out.shape)
			return out, nil
		}
	}
	var ids [2]ID
	for i, v := range []traced{x, w} {
		copied, err := t.batchedCopy(n, v, graph.Shape(below[i]))
		if err != nil {
			return traced{}, err
		}
		ids[i] = copied.id
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Product, In: ids[:], Groups: groups, Rows: rows, K: k, N: cols, TransA: transA, TransB: transB})
	return out, nil
}

// repeats reports whether a view repeats all of its first axes.
func (v View) repeats(axes int) bool {
	for d := range axes {
		if v.Shape[d] > 1 && v.Strides[d] != 0 {
			return false
		}
	}
	return true
}

// rearranges reports whether a view has each element of a value of the given size exactly once.
func (v View) rearranges(size int) bool {
	for d, s := range v.Shape {
		if s > 1 && v.Strides[d] == 0 {
			return false
		}
	}
	return v.Offset == 0 && v.Size() == size && v.within(size)
}

// slicesWithout returns a shape without some axes, and the remaining axes.
func slicesWithout(shape, axes []int) (left, kept []int) {
	for axis, length := range shape {
		if !slices.Contains(axes, axis) {
			left, kept = append(left, length), append(kept, axis)
		}
	}
	return left, kept
}
