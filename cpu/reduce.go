package cpu

import (
	"math"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
)

// largest is the square of the largest norm that a factor of a gradient, or a gradient, may have: 2⁶⁰.
// Beyond it float32 products come close to overflow, and factors that would bring them back to C close to
// underflow, where rounding isn't relative any more. Such a sample counts as one without a finite norm.
const largest = 0x1p120

// measure writes each sample's squared gradient norm, by the rule of every parameter.
func (b *block) measure(squared []float64) {
	clear(squared)
	for _, r := range b.reductions {
		for s := range b.n {
			switch r.Rule {
			case compile.RankOne:
				x, d := kernel.SumSquares(b.row(r.X, s)), kernel.SumSquares(b.row(r.Delta, s))
				squared[s] += usable(x) * usable(d)
			case compile.Materialised:
				squared[s] += usable(kernel.SumSquares(b.row(r.G, s)))
			case compile.OfRows:
				b.merge(r, s)
				squared[s] += usable(kernel.SumSquares(b.row(r.Delta, s)))
			}
		}
	}
}

// merge adds up the rows of a sample's δ that go to the same row of the table, in the first of them, and leaves zeros
// in the others: a row's norm is known only once it is whole, and what is measured is what is summed.
func (b *block) merge(r compile.Reduction, s int) {
	ids, d := b.indices(r.X, s), b.row(r.Delta, s)
	for k := range ids {
		first := b.firstOf(ids, k)
		if first == k {
			continue
		}
		row, whole := d[k*r.K:][:r.K], d[first*r.K:][:r.K]
		kernel.Add(whole, whole, row)
		clear(row)
	}
}

// firstOf returns the place of the first of a sample's indices that equals the one at place k. It is asked of each in
// order.
func (b *block) firstOf(ids []int32, k int) int {
	v := ids[k]
	// What another sample, or a worker that failed, has left there is no earlier place of this index among these.
	if first := int(b.first[v]); first < k && ids[first] == v {
		return first
	}
	b.first[v] = int32(k)
	return k
}

// usable returns infinity for what isn't.
func usable(squared float64) float64 {
	if squared <= largest {
		return squared
	}
	return math.Inf(1)
}

// silence clears everything that sample s would add to a sum: its gradient isn't finite, and zero times
// that isn't zero.
func (b *block) silence(s int) {
	for _, r := range b.reductions {
		for _, id := range []compile.ID{r.X, r.Delta, r.G} {
			if id != compile.None {
				clear(b.row(id, s)) // of indices there are no floats
			}
		}
	}
}

// reduce adds each parameter's gradients, weighted by the clip factors, to sum.
func (b *block) reduce(sum *chunkSum) {
	for _, r := range b.reductions {
		dst := sum.parts[r.Param]
		if r.Rule == compile.OfRows {
			b.scatter(r, dst, sum.tables[r.Param])
			continue
		}
		if r.Rule == compile.Materialised {
			kernel.Gemm(false, false, 1, len(dst), b.n, 1, b.factors[:b.n], b.n, b.rows(r.G), len(dst), 1, dst, len(dst))
			continue
		}
		// δ is one product's own: what a sum passes on, it passes to one operand alone.
		x, d := b.rows(r.X), b.rows(r.Delta)
		kernel.ScaleRows(d, d, b.n, r.N, b.factors[:b.n])
		if r.TransB {
			kernel.Gemm(true, false, r.N, r.K, b.n, 1, d, r.N, x, r.K, 1, dst, r.K)
		} else {
			kernel.Gemm(true, false, r.K, r.N, b.n, 1, x, r.K, d, r.N, 1, dst, r.N)
		}
	}
}

// scatter adds the samples' merged rows, weighted by the clip factors, to a table's, and lists them.
func (b *block) scatter(r compile.Reduction, sum []float32, t *table) {
	for s, f := range b.factors[:b.n] {
		d, ids := b.row(r.Delta, s), b.indices(r.X, s)
		kernel.MulScalar(d, d, f)
		for k, v := range ids {
			if b.firstOf(ids, k) < k {
				continue // it is in the first
			}
			t.touch(v)
			row := sum[int(v)*r.K:][:r.K]
			kernel.Add(row, row, d[k*r.K:][:r.K])
		}
	}
}
