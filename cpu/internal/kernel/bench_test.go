package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var sizes = []struct {
	transA, transB bool
	m, n, k        int
	accumulate     bool
}{
	{false, false, 32, 120, 784, false},
	{false, false, 32, 120, 120, false},
	{false, false, 32, 10, 120, false},
	{false, true, 32, 120, 120, false},
	{false, true, 32, 120, 10, false},
	{true, false, 784, 120, 32, true},
	{true, false, 120, 120, 32, true},
	{true, false, 120, 10, 32, true},
	{false, false, 196, 16, 64, false},
	{false, false, 16, 196, 64, false},
	{false, false, 25, 32, 256, false},
	{false, false, 32, 25, 256, false},
	{true, false, 16, 64, 196, false},
	{false, true, 16, 64, 196, false},
	{true, false, 32, 256, 25, false},
	{false, false, 25, 256, 32, false},
	{true, false, 256, 25, 32, false},
	{false, false, 1, 120, 784, false},
	{false, false, 256, 256, 256, false},
	{false, false, 48, 512, 784, false},
	{false, false, 48, 2048, 2048, false},
	{false, false, 256, 1024, 784, false},
	{false, false, 256, 2048, 2048, false},
	{false, true, 48, 512, 784, false},
	{false, true, 48, 2048, 2048, false},
	{false, true, 256, 1024, 784, false},
	{false, true, 256, 2048, 2048, false},
}

// clock measures the core's cycles in a nanosecond: a fused multiply-add that waits for the one before takes four.
var clock = sync.OnceValue(func() float64 {
	v, best := 1.0, 0.0
	for range 10 {
		begin := time.Now()
		for range 100_000 {
			v = math.FMA(v, 0.5, 0.5)
		}
		best = max(best, 400_000/float64(time.Since(begin).Nanoseconds()))
	}
	return best * v
})

// atPeak reports the rate of operations beside the bound: two fused multiply-adds of a register's width a cycle.
func atPeak(b *testing.B, name string, operations float64) {
	rate := operations * float64(b.N) / float64(b.Elapsed().Nanoseconds())
	b.ReportMetric(rate, "GFLOP/s")
	if width := map[string]float64{"avx2": 8, "avx512": 16}[name]; width > 0 {
		b.ReportMetric(100*rate/(clock()*4*width), "%peak")
	}
}

// perElement runs f for every implementation and reports nanoseconds and cycles per element. In a cycle go two loads
// and a store of whole registers from and to the first-level cache, and two other operations (one with 512 bits, where
// it isn't of floats); of divisions and roots one in four to six cycles a register of 256 bits, twice that of 512.
func perElement(b *testing.B, name string, n int, f func(tb *table)) {
	for _, tb := range tables() {
		b.Run(name+"/"+tb.name, func(b *testing.B) {
			for b.Loop() {
				f(tb)
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
			b.ReportMetric(each, "ns/element")
			b.ReportMetric(each*clock(), "cycles/element")
		})
	}
}

// BenchmarkVector measures loops over a vector that fits the first-level cache.
func BenchmarkVector(b *testing.B) {
	const n = 3136 // 16 channels of 14×14
	r := rand.New(rand.NewPCG(1, 2))
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	fill(x, r, normal)
	fill(y, r, normal)
	Abs(y, y)
	counts := make([]int32, n)
	perElement(b, "exp", n, func(tb *table) { tb.exp(z, x) })
	perElement(b, "tanh", n, func(tb *table) { tb.tanh(z, x) })
	perElement(b, "sigmoid", n, func(tb *table) { tb.sigmoid(z, x) })
	perElement(b, "log", n, func(tb *table) { tb.log(z, y) })
	perElement(b, "sqrt", n, func(tb *table) { tb.sqrt(z, y) })
	perElement(b, "add", n, func(tb *table) { tb.add(z, x, y) })
	perElement(b, "dot", n, func(tb *table) { tb.dot(x, y) })
	perElement(b, "sum", n, func(tb *table) { tb.sum(x) })
	perElement(b, "maximum", n, func(tb *table) { tb.maximum(x) })
	perElement(b, "addOuter1", n, func(tb *table) { tb.addOuter(counts, x[:1], 1, y, n, 1, 0, 0x1p-10) })
	perElement(b, "addOuter56x56", n, func(tb *table) { tb.addOuter(counts, x[:56*8], 56, y[:56*8], 56, 4, 4, 0x1p-10) })
	perElement(b, "transpose196x16", n, func(tb *table) { tb.transpose(z, 196, x, 16, 196, 16) })
}

// BenchmarkConvolution measures patches and pooling on the layers of the MNIST network: 8×8 kernels at
// stride 2 with padding 3, pooling 2×2 at stride 1, and 4×4 kernels at stride 2.
func BenchmarkConvolution(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	img, col := make([]float32, 34*34), make([]float32, 196*64)
	fill(img, r, normal)
	first := newPatches("", 1, 28, 28, 8, 8, 3, 3, 2, 2, 1, 1)
	perElement(b, "copy8x8", len(col), func(tb *table) { tb.copyPatches(col, img, first) })
	perElement(b, "add8x8", len(col), func(tb *table) { tb.addPatches(col, img, first) })

	img, col = make([]float32, 16*13*13), make([]float32, 25*256)
	fill(img, r, normal)
	second := newPatches("", 16, 13, 13, 4, 4, 0, 0, 2, 2, 1, 1)
	perElement(b, "copy4x4", len(col), func(tb *table) { tb.copyPatches(col, img, second) })
	perElement(b, "add4x4", len(col), func(tb *table) { tb.addPatches(col, img, second) })

	img = make([]float32, 16*14*14)
	fill(img, r, normal)
	pooled, arg := make([]float32, 16*13*13), make([]int32, 16*13*13)
	perElement(b, "maxPool2x2", len(pooled), func(tb *table) {
		defer func(was *table) { active = was }(active)
		active = tb
		MaxPool(pooled, arg, img, 16, 14, 14, 2, 2, 0, 0, 1, 1)
	})
	b.Run("maxPoolBackward", func(b *testing.B) {
		for b.Loop() {
			MaxPoolBackward(img, pooled, arg)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(pooled)), "ns/element")
	})
}

// BenchmarkOuter measures sums of outer products, two operations each.
func BenchmarkOuter(b *testing.B) {
	for _, s := range []struct{ m, n, k int }{{784, 120, 48}, {120, 10, 48}, {512, 512, 48}, {784, 1024, 48}, {2048, 2048, 15}, {2048, 2048, 48}, {2048, 2048, 256}, {2048, 10, 48}} {
		r := rand.New(rand.NewPCG(1, 2))
		x, y, sum := make([]float32, s.m*s.k), make([]float32, s.n*s.k), make([]int32, s.m*s.n)
		fill(x, r, normal)
		fill(y, r, normal)
		for _, tb := range tables() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s.m, s.k, s.n, tb.name), func(b *testing.B) {
				defer func(was *table) { active = was }(active)
				active = tb
				for b.Loop() {
					AddOuter(sum, x, s.m, y, s.n, s.k/2, s.k-s.k/2, 0x1p-12)
				}
				atPeak(b, tb.name, 2*float64(s.m)*float64(s.n)*float64(s.k))
			})
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range sizes {
		name := fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n)
		if s.transA {
			name += "/TA"
		}
		if s.transB {
			name += "/TB"
		}
		r := rand.New(rand.NewPCG(1, 2))
		x, y, z := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		for i := range y {
			y[i] = float32(r.NormFloat64())
		}
		lda, ldb := s.k, s.n
		if s.transA {
			lda = s.m
		}
		if s.transB {
			ldb = s.k
		}
		for _, known := range tables() {
			p := known.product
			b.Run(name+"/"+p.name, func(b *testing.B) {
				for b.Loop() {
					p.gemm(s.transA, s.transB, s.m, s.n, s.k, x, lda, y, ldb, s.accumulate, z, s.n)
				}
				atPeak(b, p.name, 2*float64(s.m)*float64(s.n)*float64(s.k))
			})
		}
	}
}

// BenchmarkUpdate measures the update of a block of coordinates, given its sums and normals. A release of eight is
// eleven operations, so five and a half cycles; Adam's division and root take some 36 to 40 for eight.
func BenchmarkUpdate(b *testing.B) {
	const n = 512
	r := rand.New(rand.NewPCG(1, 2))
	params, first, second := make([]float32, n), make([]float32, n), make([]float32, n)
	units, sum, mean, gradient := make([]int32, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		units[i], gradient[i], second[i] = int32(r.Uint32()>>8), r.NormFloat64(), r.Float32()
	}
	noisy := &NoisyMean{Deviation: 0x1p21, Coarsen: 0x1p-15, Mean: 0x1p-6 / 63}
	step := &AdamStep{1e-3, 0.9, 0.1, 0.999, 0.001, 2, 1e-8}
	perElement(b, "units", n, func(tb *table) { tb.addUnits(sum, units) })
	perElement(b, "release", n, func(tb *table) { copy(mean, gradient); tb.release(mean, sum, noisy) })
	perElement(b, "sgd", n, func(tb *table) { tb.sgd(params, gradient, 1e-3) })
	perElement(b, "adam", n, func(tb *table) { tb.adam(params, first, second, gradient, step) })
}
