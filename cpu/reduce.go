package cpu

import (
	"math"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
)

// largest is the maximum squared norm, 2⁶⁰ squared, of a parameter's materialized gradient, and of each factor of a
// gradient kept as two factors. Beyond it products of floats come close to overflow, and the clip factors that undo
// this come close to underflow, where rounding isn't relative any more. A sample beyond it counts as not finite.
const largest = 0x1p120

// measure writes each sample's squared gradient norm, summed over parameters.
func (b *microbatch) measure(squared []float64) {
	clear(squared)
	for i, r := range b.reductions {
		for s := range b.n {
			switch r.Rule {
			case compile.RankOne:
				x, d := kernel.SumSquares(b.row(r.X, s)), kernel.SumSquares(b.row(r.Delta, s))
				squared[s] += usable(x) * usable(d)
			case compile.Materialised:
				squared[s] += usable(kernel.SumSquares(b.row(r.G, s)))
			case compile.OfRows:
				b.merge(i, s)
				squared[s] += usable(kernel.SumSquares(b.row(r.Delta, s)))
			}
		}
	}
}

// merge adds up the rows of sample s's δ that belong to the same row of the table, in the first of them, clears the
// others, and lists the first ones. The norm is measured on the added rows, because these are summed.
func (b *microbatch) merge(i, s int) {
	r := &b.reductions[i]
	ids, first := b.indices(r.X, s), b.first
	into, firsts := b.into[:len(ids)], b.firsts[i][s][:len(ids)]
	n := 0
	for k, v := range ids {
		if k > 0 && v == ids[k-1] { // as in padding
			into[k] = into[k-1]
			continue
		}
		// No branch, which no processor could predict: differs is -1 or 0. An entry left by another sample or a failed
		// worker isn't an earlier index of this id.
		back := first[v] - int32(k)
		back &= back >> 31
		back &^= differs(ids[int32(k)+back], v)
		at := int32(k) + back
		first[v], into[k], firsts[n] = at, at, int32(k)
		n += 1 + int(differs(back, 0))
	}
	b.firsts[i][s] = firsts[:n]
	if n < len(ids) {
		kernel.MergeRows(b.row(r.Delta, s), into, r.K)
	}
}

// differs returns -1 if a and b differ, and 0 otherwise.
func differs(a, b int32) int32 { return int32(-((int64(a) ^ int64(b)) & 0xffffffff) >> 63) }

// usable returns squared, or infinity if it is above largest or NaN.
func usable(squared float64) float64 {
	if squared <= largest {
		return squared
	}
	return math.Inf(1)
}

// silence clears sample s's contribution to a sum: its gradient isn't finite, and 0 times infinity isn't 0.
func (b *microbatch) silence(s int) {
	for _, r := range b.reductions {
		for _, id := range []compile.ID{r.X, r.Delta, r.G} {
			if id != compile.None {
				clear(b.row(id, s)) // nil for indices
			}
		}
	}
}

// reduce adds the samples' contributions to sum. Those of the first down samples are rounded down, the others up.
func (b *microbatch) reduce(sum *sum, down int) {
	sum.reserve(b.n)
	up := b.n - down
	for i, r := range b.reductions {
		dst := sum.parts[r.Param]
		switch r.Rule {
		case compile.OfRows:
			b.scatter(i, sum)
		case compile.Materialised:
			kernel.AddOuter(dst, b.factors[:b.n], 1, b.rows(r.G), len(dst), down, up, sum.fine)
		case compile.RankOne:
			// No other gradient shares δ's buffer: an addition passes its gradient on to one operand only.
			x, d := b.rows(r.X), b.rows(r.Delta)
			kernel.ScaleRows(d, d, b.n, r.N, b.factors[:b.n])
			if r.TransB {
				kernel.AddOuter(dst, d, r.N, x, r.K, down, up, sum.fine)
			} else {
				kernel.AddOuter(dst, x, r.K, d, r.N, down, up, sum.fine)
			}
		}
	}
}

// scatter adds the samples' merged rows to a table's sum, and lists them.
func (b *microbatch) scatter(i int, sum *sum) {
	r := b.reductions[i]
	table, t := sum.parts[r.Param], sum.tables[r.Param]
	for s := range b.n {
		ids, firsts := b.indices(r.X, s), b.firsts[i][s]
		t.touch(ids, firsts)
		kernel.AddToRows(table, ids, b.factors[s], b.row(r.Delta, s), r.K, firsts, sum.fine)
	}
}
