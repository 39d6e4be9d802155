package compile

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// lookup lowers the picking of rows of a table, which is the same for all samples, by an input of integers. The indices
// must be the input itself, at most reshaped: then [Program.Range] bounds each of them before anything runs.
func lookup(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	table, ids := in[0], in[1]
	axis := graph.FieldsOf(n.Op()).Int("axis")
	switch {
	case table.class == batched && axis == 0:
		return traced{}, mixes(n, "it picks among the rows of all samples")
	case table.class == batched:
		return traced{}, refuse(n, "its indices and what it picks from both depend on the sample", "an input of floats that is 1 at what is picked and 0 elsewhere, multiplied and summed")
	case table.overBatch:
		return traced{}, refuse(n, repeated, "the parameter itself")
	case axis != 0 || len(table.shape) < 2:
		return traced{}, refuse(n, "samples' integers pick from an axis that isn't the first of two or more", "Transpose, so that they pick rows of a table")
	}
	rows, width := product(ids.shape), product(table.shape[1:])
	out, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Lookup, In: []ID{ids.id, t.whole(n, table)}, Rows: rows, K: width, N: table.shape[0]})
	return out, nil
}

// Range returns the minimum and the maximum of valid integers in input i, which index a row of every table that the
// input is used with. Engines check data against them before they check the program or run anything.
func (p *Program) Range(i int) (minimum, maximum int32) {
	minimum, maximum = math.MinInt32, math.MaxInt32
	limit := func(rows int) {
		minimum, maximum = 0, min(maximum, int32(min(max(rows, 0), math.MaxInt32)-1))
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
