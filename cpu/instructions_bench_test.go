package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// BenchmarkInstructions measures single instructions on microbatches that fit in a core's cache, in nanoseconds per
// element of their results, and the draws of dropout. Each comes with a copy of as many elements.
func BenchmarkInstructions(b *testing.B) {
	for _, c := range []struct {
		name string
		in   compile.Instruction
		size int // of the result
		x, y int // of the operands; 0 if there is none
	}{
		{"normalize/8x16", compile.Instruction{Op: compile.Normalize, Rows: 8, K: 16, Scalar: 1e-5}, 128, 128, 0},
		{"normalize/16x64", compile.Instruction{Op: compile.Normalize, Rows: 16, K: 64, Scalar: 1e-5}, 1024, 1024, 0},
		{"normalize/16x256", compile.Instruction{Op: compile.Normalize, Rows: 16, K: 256, Scalar: 1e-5}, 4096, 4096, 0},
		{"normalize/8x1024", compile.Instruction{Op: compile.Normalize, Rows: 8, K: 1024, Scalar: 1e-5}, 8192, 8192, 0},
		{"back/8x16", compile.Instruction{Op: compile.NormalizeBack, Rows: 8, K: 16, Scalar: 1e-5}, 128, 128, 128},
		{"back/16x64", compile.Instruction{Op: compile.NormalizeBack, Rows: 16, K: 64, Scalar: 1e-5}, 1024, 1024, 1024},
		{"back/16x256", compile.Instruction{Op: compile.NormalizeBack, Rows: 16, K: 256, Scalar: 1e-5}, 4096, 4096, 4096},
		{"back/8x1024", compile.Instruction{Op: compile.NormalizeBack, Rows: 8, K: 1024, Scalar: 1e-5}, 8192, 8192, 8192},
		{"dropout/128", compile.Instruction{Op: compile.Dropout, Scalar: 0.9}, 128, 128, 0},
		{"dropout/4096", compile.Instruction{Op: compile.Dropout, Scalar: 0.9}, 4096, 4096, 0},
		{"maximum/4096", compile.Instruction{Op: compile.Binary, Func: compile.Maximum}, 4096, 4096, 4096},
	} {
		benchmark(b, c.name, c.in, c.size, c.x, c.y)
	}
	for _, d := range [][4]int{{4, 32, 16, 32}, {4, 32, 32, 16}, {1, 32, 16, 32}, {8, 64, 8, 64}, {2, 128, 64, 128}, {4, 4, 4, 4}, {8, 9, 7, 9}} {
		for _, trans := range [][2]bool{{false, false}, {false, true}, {true, false}} {
			g, m, k, n := d[0], d[1], d[2], d[3]
			in := compile.Instruction{Op: compile.Product, Groups: g, Rows: m, K: k, N: n, TransA: trans[0], TransB: trans[1]}
			name := fmt.Sprintf("product/%dx[%d,%d]x[%d,%d]/trans=%v,%v", g, m, k, k, n, trans[0], trans[1])
			benchmark(b, name, in, g*m*n, g*m*k, g*k*n)
		}
	}
}

func benchmark(b *testing.B, name string, in compile.Instruction, sizes ...int) {
	b.Run(name, func(b *testing.B) {
		p := &compile.Program{Draws: 1 << 16}
		for _, size := range sizes {
			p.Values = append(p.Values, compile.Value{Shape: []int{size}, Size: max(size, 1)})
		}
		in.Out, in.In, in.Where = 0, []compile.ID{1, 2}, compile.None
		p.Forward = []compile.Instruction{in}
		l, err := lower(p)
		if err != nil {
			b.Fatal(err)
		}
		m := l.workspace().(*microbatch)
		m.at, m.bound, m.n = m.memory.gradient, l.bind(), m.samples
		m.bound.at(&engine.Job{}, 1)
		r := rand.New(rand.NewPCG(1, 2))
		for _, rows := range m.at[1:] {
			for i := range rows.floats {
				rows.floats[i] = float32(r.NormFloat64())
			}
		}
		samples := make([]int32, m.n)
		for i := range samples {
			samples[i] = r.Int32N(60000)
		}
		work := float64(m.n * sizes[0])
		for b.Loop() {
			m.draw(samples)
			m.apply(&l.forward[0])
		}
		per := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / work
		b.ReportMetric(per, "ns/element")
		if in.Op == compile.Product {
			b.ReportMetric(2*float64(in.K)/per, "GFLOPS")
		}
	})
}

// BenchmarkCopy measures the copies for BenchmarkInstructions.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]float32, cacheFloats/2), make([]float32, cacheFloats/2)
	for b.Loop() {
		copy(to, from)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(from)), "ns/element")
}
