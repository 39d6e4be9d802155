package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestNormalizeTwins checks rows of any length, forward and back, against the composed loops, bit for bit.
func TestNormalizeTwins(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			rows, cols := rapid.IntRange(0, 5).Draw(t, "rows"), max(1, drawLength(t))
			k := kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind"))
			atEnd := rapid.Bool().Draw(t, "at end")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			var v [3][]float32
			for i, a := range arenas {
				v[i] = a.slice(rows*cols, atEnd)
				fill(v[i], r, k)
			}
			add := rapid.SampledFrom([]float32{0, 1e-5, 1, 1e30}).Draw(t, "add")
			dst, dy, x := v[0], v[1], v[2]
			for _, accumulate := range []bool{true, false} {
				want := append([]float32(nil), dst...)
				plain.normalizeBackward(want, dy, x, rows, cols, add, accumulate)
				tb.normalizeBackward(dst, dy, x, rows, cols, add, accumulate)
				wantSame(t, "back", dst, want)
			}
			want := make([]float32, rows*cols)
			plain.normalize(want, x, rows, cols, add)
			tb.normalize(dst, x, rows, cols, add)
			wantSame(t, "normalize", dst, want)
		}))
	}
}

// Rows are normalised by their own mean and variance, to single precision even far from 0. Rows that aren't finite, or
// overflow, become NaN.
func TestNormalize(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	got := make([]float32, 8)
	Normalize(got, []float32{1, 3, 5, 7, 1e6 + 8, 1e6 + 2, 1e6 + 2, 1e6 + 8}, 2, 4, 0)
	r := float32(1 / math.Sqrt(5))
	for i, want := range []float32{-3 * r, -r, r, 3 * r, 1, -1, -1, 1} {
		if d := got[i] - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("element %d is %v, want %v", i, got[i], want)
		}
	}
	for _, row := range [][]float32{{1, nan}, {1, inf}, {-inf, inf}, {3e38, 3e38}, {1e30, -1e30}, {4, 4}} {
		Normalize(got[:2], row, 1, 2, 0)
		NormalizeBackward(got[2:4], []float32{1, 2}, row, 1, 2, 0, false)
		for i, v := range got[:4] {
			if v == v {
				t.Errorf("the row %v becomes %v in element %d", row, v, i)
			}
		}
	}
	Normalize(got[:2], []float32{4, 4}, 1, 2, 1e-5)
	wantSame(t, "a constant row", got[:2], []float32{0, 0})
}
