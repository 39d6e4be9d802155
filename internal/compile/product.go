package compile

import "gorgonia.org/gorgonia"

// The linear algebra operators, in Gorgonia's order.
const (
	opMatMul = iota
	opMatVec
	opDot
	opOuter
	opBatched
)

// products holds their names.
var products = [...]string{
	opMatMul: "matrix product", opMatVec: "matrix times vector", opDot: "dot product",
	opOuter: "outer product", opBatched: "batched matrix product",
}

// matMul lowers x·w: x is batched, and w is a parameter or constant, a matrix, its transpose or a vector. A folded x
// has several rows in each sample.
//
// A product whose second operand has the batch in its first axis contracts the batch and so mixes samples. At a batch
// of one it mixes nothing and merely has no rule. Neither does a dot product of two vectors over the batch mix, which
// is a sum over it, nor a batched product, which multiplies each sample's own matrices.
func matMul(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f := fieldsOf(n.Op())
	kind := f.int("āBinaryOperator")
	x, w := in[0], in[1]
	switch {
	case x.class == batched && w.class == batched:
		if t.batch == 1 || kind == opDot || kind == opBatched {
			return traced{}, noRule(n, "both operands depend on the sample")
		}
		return traced{}, mixes(n, "it multiplies values of all samples with one another")
	case x.class != batched || w.class != shared || f.bool("transA"):
		if w.class == batched && t.batch > 1 && (kind == opMatMul || kind == opMatVec) && !f.bool("transB") {
			return traced{}, mixes(n, "it contracts the batch axis; put the batch first, as in Mul(x, w)")
		}
		return traced{}, noRule(n, "only Mul(x, w) with a batch-first x and a parameter w has one")
	case w.overBatch:
		return traced{}, noRule(n, "the parameter is repeated along the batch")
	}
	var k, cols int
	transB := false
	switch {
	case kind == opMatVec && len(w.shape) == 1:
		k, cols = w.shape[0], 1
	case kind == opMatMul && len(w.shape) == 2:
		k, cols = w.shape[0], w.shape[1]
		if f.bool("transB") {
			k, cols, transB = cols, k, true
		}
	default:
		return traced{}, noRule(n, "")
	}
	switch {
	case w.view.contiguous():
	case len(w.shape) == 2 && w.view.permuted([]int{1, 0}).contiguous():
		transB = !transB
	default:
		return traced{}, noRule(n, "the parameter is rearranged before use")
	}
	if w.view.Size() != t.prog.Values[w.id].Size {
		return traced{}, noRule(n, "the parameter is repeated before use")
	}
	rows := 1
	if x.folded {
		rows = x.shape[0]
	}
	if product(x.shape) != rows*k {
		return traced{}, noRule(n, "its operands' shapes differ")
	}
	out := traced{class: batched, folded: x.folded}
	if x.folded {
		out.shape = append(out.shape, rows)
	}
	if kind == opMatMul {
		out.shape = append(out.shape, cols)
	}
	out.id = t.emit(n, out.shape, Instruction{Op: MatMul, In: []ID{x.id, w.id}, Rows: rows, K: k, N: cols, TransB: transB})
	return out, nil
}
