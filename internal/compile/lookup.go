package compile

import (
	"math"
	"slices"

	"gorgonia.org/gorgonia"
)

// lookup lowers the rows of a table, a parameter or constant, that an input of integers indexes for each sample. The
// indices must be the input itself, at most reshaped: then [Program.Range] bounds each of them before anything runs.
func lookup(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	table, ids := in[0], in[1]
	switch {
	case table.class == batched && t.batch > 1:
		return traced{}, mixes(n, "it picks among the rows of all samples")
	case table.class == batched:
		return traced{}, noRule(n, "its rows depend on the sample")
	case table.class != shared || fieldsOf(n.Op()).int("axis") != 0 || len(table.shape) < 2:
		return traced{}, noRule(n, "only rows of a parameter or a constant have one")
	case table.overBatch:
		return traced{}, noRule(n, "the parameter is repeated along the batch")
	case !table.view.contiguous() || table.view.Size() != t.prog.Values[table.id].Size:
		return traced{}, noRule(n, "the parameter is rearranged before use")
	case ids.class != batched || !indices.takes(t.prog.Values[ids.id]):
		return traced{}, noRule(n, "its indices aren't an input of integers")
	}
	rows, width := product(ids.shape), product(table.shape[1:])
	shape, folded, err := t.perSample(n, shapeOf(n))
	if err != nil {
		return traced{}, err
	}
	out := traced{class: batched, shape: shape, folded: folded}
	out.id = t.emit(n, shape, Instruction{Op: Lookup, In: []ID{ids.id, table.id}, Rows: rows, K: width, N: table.shape[0]})
	return out, nil
}

// maxExact bounds the integers of an [Opaque] program's inputs in absolute value. [Reference] takes samples in single
// precision, which represents all integers up to it.
const maxExact = 1 << 24

// Range returns the minimum and the maximum of valid integers in input i, which index a row of every table that the
// input is used with. Engines check data against them before they check the program or run anything.
func (p *Program) Range(i int) (minimum, maximum int32) {
	minimum, maximum = math.MinInt32, math.MaxInt32
	if p.missing != nil {
		minimum, maximum = -maxExact, maxExact
	}
	limit := func(rows int) {
		minimum, maximum = 0, min(maximum, int32(min(max(rows, 0), math.MaxInt32)-1))
	}
	if i < len(p.limits) && p.limits[i] > 0 {
		limit(p.limits[i])
	}
	id := p.Inputs[i].Value
	for _, list := range [][]Instruction{p.Predict, p.Forward, p.Backward} {
		for _, in := range list {
			if (in.Op == Lookup || in.Op == GradLookup) && slices.Contains(in.In, id) {
				limit(in.N)
			}
		}
	}
	for _, r := range p.Reductions {
		if r.Rule == OfRows && r.X == id {
			limit(r.N)
		}
	}
	return minimum, maximum
}

// limitsOf returns, for each input of integers, the number of rows of the smallest table that it indexes, by whatever
// reshaped part, or 0 if it indexes none.
func limitsOf(src Source) []int {
	limits := make([]int, len(src.Inputs))
	for _, n := range evaluationOrder(gorgonia.Nodes{src.Cost, src.Output}) {
		if n.Op() == nil || kindOf(n.Op()) != "byIndicesOp" {
			continue
		}
		below := children(n)
		rows := below[0].Shape()[0]
		for _, leaf := range leavesOf(below[1]) {
			if i := slices.Index(src.Inputs, leaf); i >= 0 && (limits[i] == 0 || rows < limits[i]) {
				limits[i] = rows
			}
		}
	}
	return limits
}

// leavesOf returns the nodes whose elements n only moves: n itself if it computes anything.
func leavesOf(n *gorgonia.Node) []*gorgonia.Node {
	if n.Op() == nil {
		return []*gorgonia.Node{n}
	}
	var from []*gorgonia.Node
	switch kindOf(n.Op()) {
	case "reshapeOp", "transposeOp", "sliceOp", "concatOp", "Iop":
		for _, c := range children(n) {
			from = append(from, leavesOf(c)...)
		}
		return from
	}
	return []*gorgonia.Node{n}
}
