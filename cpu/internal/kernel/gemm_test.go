package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// multiplication is one call of Gemm, over slices between fences.
type multiplication struct {
	transA, transB bool
	m, n, k        int
	accumulate     bool
	a, b, c        []float32
	lda, ldb, ldc  int
}

func (p multiplication) by(q product, c []float32) {
	q.gemm(p.transA, p.transB, p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.accumulate, c, p.ldc)
}

func drawMultiplication(t *rapid.T, arenas [3]*arena, values kind) multiplication {
	size := rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(15, 34), rapid.IntRange(47, 70))
	// Rows of B that are 512 apart are copied.
	gap := rapid.SampledFrom([]int{0, 0, 1, 5, 512})
	p := multiplication{
		transA: rapid.Bool().Draw(t, "transA"), transB: rapid.Bool().Draw(t, "transB"),
		m: size.Draw(t, "m"), n: size.Draw(t, "n"), k: size.Draw(t, "k"),
		accumulate: rapid.Bool().Draw(t, "accumulate"),
	}
	matrix := func(a *arena, rows, cols int, transposed bool) ([]float32, int) {
		if transposed {
			rows, cols = cols, rows
		}
		ld := cols + gap.Draw(t, "gap")
		return a.slice((rows-1)*ld+cols, rapid.Bool().Draw(t, "at end")), ld
	}
	p.a, p.lda = matrix(arenas[0], p.m, p.k, p.transA)
	p.b, p.ldb = matrix(arenas[1], p.k, p.n, p.transB)
	p.c, p.ldc = matrix(arenas[2], p.m, p.n, false)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for _, x := range [][]float32{p.a, p.b, p.c} {
		fill(x, r, values)
	}
	if !p.accumulate {
		for i := range p.m {
			p.c[i*p.ldc] = float32(math.NaN()) // must be overwritten
		}
	}
	return p
}

// at returns element (i, j) of op(x).
func at(x []float32, ld, i, j int, transposed bool) float32 {
	if transposed {
		i, j = j, i
	}
	return x[i*ld+j]
}

// TestGemmChain checks our matrix products against their definition, bit for bit: each element is one chain of fused
// multiply-adds in ascending order. The elements between the rows of C don't change.
func TestGemmChain(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			p := drawMultiplication(t, arenas, kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")))
			want := append([]float32(nil), p.c...)
			for i := range p.m {
				for j := range p.n {
					var sum float32
					if p.accumulate {
						sum = p.c[i*p.ldc+j]
					}
					for l := range p.k {
						sum = fma32(at(p.a, p.lda, i, l, p.transA), at(p.b, p.ldb, l, j, p.transB), sum)
					}
					want[i*p.ldc+j] = sum
				}
			}
			p.by(tb.product, p.c)
			wantSame(t, "c", p.c, want)
		}))
	}
}

// TestGemmBlocks checks products of more than one block against the same chains in one piece. The plain product may
// round otherwise.
func TestGemmBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tb := range tables() {
		for _, s := range [][3]int{{3, 300, 1300}, {400, 60, 513}, {16, 257, 1024}, {770, 49, 20}, {17, 97, 512}, {20, 600, 30}} {
			m, n, k := s[0], s[1], s[2]
			a, b := make([]float32, m*k), make([]float32, k*n)
			fill(a, r, normal)
			fill(b, r, normal)
			want := make([]float32, m*n)
			for i := range m {
				for j := range n {
					for l := range k {
						want[i*n+j] = fma32(a[i*k+l], b[l*n+j], want[i*n+j])
					}
				}
			}
			across, down := make([]float32, m*k), make([]float32, k*n)
			transposePlain(across, m, a, k, m, k)
			transposePlain(down, k, b, n, k, n)
			for _, trans := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
				c := make([]float32, m*n)
				p := multiplication{transA: trans[0], transB: trans[1], m: m, n: n, k: k, a: a, lda: k, b: b, ldb: n, ldc: n}
				if p.transA {
					p.a, p.lda = across, m
				}
				if p.transB {
					p.b, p.ldb = down, k
				}
				p.by(tb.product, c)
				if tb != &plain {
					wantSame(t, fmt.Sprintf("%s: %v of %v", tb.name, trans, s), c, want)
				}
				for i, v := range c {
					if math.Abs(float64(v-want[i])) > 1e-3 {
						t.Fatalf("%s: %v of %v: element %d is %v, want %v", tb.name, trans, s, i, v, want[i])
					}
				}
			}
		}
	}
}

// fma32 returns x·y + z rounded once. The product is exact in float64; rounding the float64 sum to odd
// before rounding it to float32 makes the two roundings one (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums", 2008).
func fma32(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z)
	sum := product + addend
	rest := sum - product
	lost := (product - (sum - rest)) + (addend - rest)
	if bits := math.Float64bits(sum); lost != 0 && lost == lost && !math.IsInf(sum, 0) && bits&1 == 0 {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}

// TestGemmElementsAreTheirOwn computes rows one at a time: a row must not depend on the rest of a product, or a
// sample's gradient would depend on its neighbours.
func TestGemmElementsAreTheirOwn(t *testing.T) {
	arenas := newArenas(t)
	for _, known := range tables() {
		t.Run(known.product.name, rapid.MakeCheck(func(t *rapid.T) {
			p := drawMultiplication(t, arenas, normal)
			whole := append([]float32(nil), p.c...)
			p.by(known.product, whole)
			from := rapid.IntRange(0, p.m-1).Draw(t, "from")
			rows := rapid.IntRange(1, p.m-from).Draw(t, "rows")
			part := p
			first := from * p.lda
			if p.transA {
				first = from
			}
			part.m, part.a = rows, p.a[first:]
			c := append([]float32(nil), p.c[from*p.ldc:]...)
			// The matrices' addresses must not matter either.
			for _, x := range []*[]float32{&part.a, &part.b} {
				gap := rapid.IntRange(0, 7).Draw(t, "shift")
				*x = append(make([]float32, gap), *x...)[gap:]
			}
			part.by(known.product, c)
			for i := range rows {
				wantSame(t, "row", c[i*p.ldc:i*p.ldc+p.n], whole[(from+i)*p.ldc:(from+i)*p.ldc+p.n])
			}
		}))
	}
}

// TestGemm checks every implementation against float64, within the bound for any order of summation.
func TestGemm(t *testing.T) {
	arenas := newArenas(t)
	for _, known := range tables() {
		q := known.product
		t.Run(q.name, rapid.MakeCheck(func(t *rapid.T) {
			p := drawMultiplication(t, arenas, normal)
			c := append([]float32(nil), p.c...)
			p.by(q, c)
			for i := range p.m {
				for j := range p.n {
					var want, magnitude float64
					for l := range p.k {
						term := float64(at(p.a, p.lda, i, l, p.transA)) * float64(at(p.b, p.ldb, l, j, p.transB))
						want, magnitude = want+term, magnitude+math.Abs(term)
					}
					if p.accumulate {
						old := float64(p.c[i*p.ldc+j])
						want, magnitude = want+old, magnitude+math.Abs(old)
					}
					bound := float64(p.k+4) * 0x1p-24 * magnitude
					if got := float64(c[i*p.ldc+j]); !(math.Abs(got-want) <= bound) {
						t.Fatalf("c[%d,%d] is %v, want %v ± %v", i, j, got, want, bound)
					}
				}
			}
		}))
	}
}

// TestGemmEmpty: a product of no steps is 0.
func TestGemmEmpty(t *testing.T) {
	nan := float32(math.NaN())
	c := []float32{2, 3, nan, 4, 5}
	Gemm(false, false, 2, 2, 0, nil, 1, nil, 2, true, c, 3)
	wantSame(t, "accumulated", c, []float32{2, 3, nan, 4, 5})
	Gemm(false, false, 2, 2, 0, nil, 1, nil, 2, false, c, 3)
	wantSame(t, "overwritten", c, []float32{0, 0, nan, 0, 0})
	Gemm(true, true, 0, 7, 3, nil, 1, make([]float32, 21), 3, false, nil, 7)
}

func TestGemmChecksArguments(t *testing.T) {
	x := make([]float32, 6)
	for want, call := range map[string]func(){
		"kernel: Gemm: len(a) is 6, want at least 7":     func() { Gemm(false, false, 2, 1, 3, x, 4, x, 1, false, x, 1) },
		"kernel: Gemm: ldb is 2, want at least 3":        func() { Gemm(false, true, 2, 2, 3, x, 3, x, 2, false, x, 2) },
		"kernel: Gemm: rows of a is -1, want at least 0": func() { Gemm(false, false, -1, 1, 1, x, 1, x, 1, false, x, 1) },
		"kernel: Gemm: len(c) is 3, want at least 4":     func() { Gemm(false, false, 2, 2, 3, x, 3, x, 2, false, x[:3], 2) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panicked with %v, want %v", got, want)
				}
			}()
			call()
		}()
	}
}
