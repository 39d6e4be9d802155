package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// lookup lowers the picking of elements of an axis. An input of integers indexes the rows of a table, which is the same
// for all samples. The indices must be the input itself, at most reshaped: then [Program.Range] bounds each of them
// before anything runs. Constants may index any axis but the batch's: this rule is right along inner axes too, where
// Gorgonia's own forward pass (v0.9.18) is wrong, because of package tensor's ByIndices.
func lookup(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	table, ids := in[0], in[1]
	axis := graph.FieldsOf(n.Op()).Int("axis")
	switch {
	case ids.class == indexing:
		return t.pick(n, table, axis, t.numbers[graph.Children(n)[1]])
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
	shape, folded, err := t.perSample(n, graph.Shape(n))
	if err != nil {
		return traced{}, err
	}
	out := traced{class: batched, shape: shape, folded: folded}
	out.id = t.emit(n, shape, Instruction{Op: Lookup, In: []ID{ids.id, t.whole(n, table)}, Rows: rows, K: width, N: table.shape[0]})
	return out, nil
}

// mostStretches is the maximum number of stretches that a constant list of indices may have.
const mostStretches = 256

// pick lowers constant indices: stretches of indices with equal steps become slices, which are concatenated.
func (t *tracer) pick(n *gorgonia.Node, v traced, axis int, ids []int) (traced, error) {
	length := graph.Shape(graph.Children(n)[0])[axis]
	for _, i := range ids {
		if i < 0 || i >= length {
			return traced{}, refuse(n, fmt.Sprintf("index %d is outside an axis of length %d", i, length), "indices from 0 on that are below the length")
		}
	}
	stretches := stretchesOf(ids)
	if len(stretches) > mostStretches {
		return traced{}, refuse(n, fmt.Sprintf("its indices are %d stretches with equal steps, more than %d", len(stretches), mostStretches), "Mul by a constant matrix with one 1 in each column")
	}
	if v.class == shared && v.overBatch {
		copied, err := t.batchedCopy(n, v, graph.Shape(graph.Children(n)[0]))
		if err != nil {
			return traced{}, err
		}
		v = copied
	}
	own := axis
	if v.class == batched {
		var ofBatch bool
		if own, ofBatch = v.axis(axis); ofBatch {
			return traced{}, byPlace(n)
		}
	}
	whole := slices.Clone(v.shape)
	whole[own] = len(ids)
	var out traced
	if v.class == shared {
		out = traced{class: shared, shape: whole, view: ViewOf(whole), id: t.value(Value{Name: graph.Name(n), Kind: Derived, Shape: whole})}
	} else {
		per, folded, err := t.perSample(n, graph.Shape(n))
		if err != nil {
			return traced{}, err
		}
		out = traced{class: batched, shape: per, folded: folded, id: t.buffer(graph.Name(n), per)}
	}
	t.needs[out.id] = t.needs[v.id]
	at := 0
	for i, s := range stretches {
		from := ViewOf(v.shape)
		if v.class == shared {
			from = v.view
		}
		from = from.sliced(own, s.from, s.count, s.step)
		to := ViewOf(whole).sliced(own, at, s.count, 1)
		at += s.count
		gathered := Instruction{Op: Gather, In: []ID{v.id}, View: from}
		joined := Instruction{Op: Scatter, Out: out.id, Where: None, View: to, Accumulate: i > 0}
		if v.class == shared {
			joined.In = []ID{t.derive(n, from.Shape, gathered).id}
			t.prepare = append(t.prepare, joined)
		} else {
			joined.In = []ID{t.emit(n, from.Shape, gathered)}
			t.code = append(t.code, joined)
		}
	}
	return out, nil
}

// stretch is count indices: from, from + step, …
type stretch struct{ from, step, count int }

// stretchesOf splits indices into stretches with equal steps. Views have no negative steps.
func stretchesOf(ids []int) []stretch {
	var out []stretch
	for _, id := range ids {
		if k := len(out) - 1; k >= 0 {
			last := &out[k]
			switch next := last.from + last.count*last.step; {
			case last.count == 1 && id >= last.from:
				last.step, last.count = id-last.from, 2
				continue
			case last.count > 1 && id == next:
				last.count++
				continue
			}
		}
		out = append(out, stretch{id, 1, 1})
	}
	return out
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
