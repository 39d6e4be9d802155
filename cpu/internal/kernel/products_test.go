package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestProducts checks groups of products against Gemm, one by one, bit for bit.
func TestProducts(t *testing.T) {
	arenas := newArenas(t)
	defer func(tb *table) { active = tb }(active)
	for _, tb := range tables() {
		active = tb
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			size := func(name string) int {
				return rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 60)).Draw(t, name)
			}
			groups, m, n, k := rapid.IntRange(1, 4).Draw(t, "groups"), size("m"), size("n"), size("k")
			groups = max(1, min(groups, arenaSize/4/max(m*n, m*k, k*n)))
			transA, transB := rapid.Bool().Draw(t, "A transposed"), rapid.Bool().Draw(t, "B transposed")
			accumulate := rapid.Bool().Draw(t, "accumulate")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			atEnd := rapid.Bool().Draw(t, "at end")
			a, b, c := arenas[0].slice(groups*m*k, atEnd), arenas[1].slice(groups*k*n, atEnd), arenas[2].slice(groups*m*n, atEnd)
			for _, x := range [][]float32{a, b, c} {
				fill(x, r, corners)
			}
			lda, ldb := k, n
			if transA {
				lda = m
			}
			if transB {
				ldb = k
			}
			want := append([]float32(nil), c...)
			for g := range groups {
				Gemm(transA, transB, m, n, k, a[g*m*k:], lda, b[g*k*n:], ldb, accumulate, want[g*m*n:], n)
			}
			Products(transA, transB, groups, m, n, k, a, b, accumulate, c)
			wantSame(t, "Products", c, want)
		}))
	}
}
