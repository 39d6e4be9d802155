package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
	"pgregory.net/rapid"
)

// An update has the contract's bits, for any mechanism, optimizer, number of workers and counts, flushed or not, and
// leaves no counts behind.
func TestUpdateIsTheContracts(t *testing.T) {
	const hidden = 13
	p := enginetest.MLP(t, 300, hidden) // parameters of odd and of even lengths, longer and shorter than a block
	lowered, err := lower(p)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		job := engine.Job{
			Key: random.InsecureKey(r.Uint64()),
			Mechanism: engine.Mechanism{
				SamplingProbability: 0.5,
				NoiseMultiplier:     rapid.SampledFrom([]float64{0, 0.3, 1, 17}).Draw(t, "noise"),
				ClippingNorm:        rapid.SampledFrom([]float64{1e-12, 0.7, 1, 1e12}).Draw(t, "clip"),
				ExpectedBatchSize:   rapid.SampledFrom([]float64{1, 3, 64, 63.9, 1e-300}).Draw(t, "divisor"),
			},
			Optimizer: rapid.SampledFrom([]engine.Optimizer{
				{Method: engine.SGD, LearningRate: 0.1},
				{Method: engine.SGD, LearningRate: -1e300},
				{Method: engine.Adam, LearningRate: 0.1, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8},
				{Method: engine.Adam, LearningRate: 1e300, Beta1: 0, Beta2: 0, Epsilon: 1e-300},
			}).Draw(t, "optimizer"),
			Initial: make([]float32, engine.LayoutOf(p).Size),
		}
		for i := range job.Initial {
			job.Initial[i] = float32(r.NormFloat64())
		}
		l := &loaded{code: lowered, program: p, data: &engine.Data{Samples: 100}, layout: engine.LayoutOf(p)}
		l.updates = l.spans()
		run := newRun(l, job)
		done := rapid.SampledFrom([]int{0, 1, 400, 40000}).Draw(t, "done")
		run.done.Store(int64(done))

		total := make([]float64, l.layout.Size)
		var c crew
		for range rapid.IntRange(1, 3).Draw(t, "workers") {
			w := &worker{space: lowered.workspace(), sum: newSum(l.layout, lowered.widths())}
			w.sum.begin(run.grid.Fine, run.clip)
			for range rapid.IntRange(1, 3).Draw(t, "flushes") {
				if w.sum.held > 0 {
					w.sum.flush()
				}
				w.sum.reserve(1)
				for _, part := range w.sum.parts {
					for i := range part {
						part[i] = r.Int32N(1<<22) >> r.IntN(22) * (r.Int32N(3) - 1)
					}
				}
				for i, n := range w.sum.units {
					total[i] += float64(n) * run.grid.Fine
				}
			}
			c = append(c, w)
		}
		want, first, second := slices.Clone(run.params), slices.Clone(run.first), slices.Clone(run.second)
		for i, from := range l.layout.Offsets {
			to := from + l.layout.Lengths[i]
			mean := make([]float64, to-from)
			if job.Mechanism.NoiseMultiplier > 0 {
				job.Normals(done, from, mean)
			}
			run.grid.Release(total[from:to], mean, job.Mechanism.NoiseDeviation(), job.Mechanism.ExpectedBatchSize)
			if first == nil {
				job.Optimizer.Update(done+1, want[from:to], nil, nil, mean)
			} else {
				job.Optimizer.Update(done+1, want[from:to], first[from:to], second[from:to], mean)
			}
		}

		if err := run.update(c); err != nil {
			t.Fatal(err)
		}
		for _, v := range []struct {
			what      string
			got, want []float32
		}{{"parameter", run.params, want}, {"first moment", run.first, first}, {"second moment", run.second, second}} {
			for i := range v.want {
				if math.Float32bits(v.got[i]) != math.Float32bits(v.want[i]) && (v.got[i] == v.got[i] || v.want[i] == v.want[i]) {
					t.Fatalf("%s %d is %v, want %v", v.what, i, v.got[i], v.want[i])
				}
			}
		}
		for k, w := range c {
			if i := slices.IndexFunc(w.sum.units, func(n int32) bool { return n != 0 }); i >= 0 || w.sum.held != 0 {
				t.Fatalf("worker %d still counts %d samples, and %d in coordinate %d", k, w.sum.held, w.sum.units[max(i, 0)], i)
			}
		}
	})
}

// The kernels' values equal the contract's also at the ends of the range.
func TestReleaseIsTheContracts(t *testing.T) {
	ends := []float64{0, math.Copysign(0, -1), 0.5, -1.5, 2.5, 0x1p51 + 0.5, -0x1p52 - 1, 0x1p53, math.Inf(1), math.Inf(-1), math.NaN(),
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 9.49, -9.49}
	rapid.Check(t, func(t *rapid.T) {
		g := engine.Grid{
			Fine:   math.Ldexp(1, rapid.IntRange(-61, 19).Draw(t, "fine")),
			Coarse: math.Ldexp(1, rapid.IntRange(-61, 60).Draw(t, "coarse")),
		}
		deviation, divisor := rapid.Float64Range(0, 1e12).Draw(t, "deviation"), rapid.SampledFrom([]float64{1, 3, 1e-300, 1e300}).Draw(t, "divisor")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		value := rapid.OneOf(rapid.Float64Range(-9.49, 9.49), rapid.SampledFrom(ends))
		z := rapid.SliceOfN(value, n, n).Draw(t, "normals")
		units := rapid.SliceOfN(rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(v int64) float64 { return float64(v) }), n, n).Draw(t, "sums")
		sums := slices.Clone(units)
		for i := range sums {
			sums[i] *= g.Fine
		}
		want := slices.Clone(z)
		g.Release(sums, want, deviation, divisor)
		kernel.Release(z, units, &kernel.NoisyMean{Deviation: deviation / g.Fine, Coarsen: g.Fine / g.Coarse, Mean: g.Coarse / divisor})
		for i, v := range z {
			if math.Float64bits(v) != math.Float64bits(want[i]) && (v == v || want[i] == want[i]) {
				t.Fatalf("value %d is %x, want %x", i, v, want[i])
			}
		}
	})
}

// A failed step leaves counts behind. The next step must not release them, whether it touched few rows of a table or
// most.
func TestAFailedStepLeavesNothing(t *testing.T) {
	for _, rows := range [][]int32{{3, 9, 3}, {0, 1, 2, 3, 4, 5, 9}} {
		s := newSum(engine.Layout{Offsets: []int{0, 40}, Lengths: []int{40, 5}, Size: 46}, []int{4, 0})
		s.begin(1, 1000)
		fill := func() {
			s.reserve(1)
			s.tables[0].touch(rows, []int32{0, 1, 2, int32(len(rows) - 1)})
			for _, v := range rows {
				s.tables[0].touch([]int32{v}, []int32{0})
				s.units[4*v], s.units[4*v+3] = 5, 6
			}
			s.units[44] = 7
		}
		fill()
		s.flush()
		fill()
		s.begin(1, 1000)
		total := make([]float64, 46)
		s.moveTo(total, 0)
		if i := slices.IndexFunc(total, func(v float64) bool { return v != 0 }); i >= 0 {
			t.Errorf("coordinate %d of an empty sum is %v", i, total[i])
		}
		if s.held != 0 || len(s.tables[0].touched) != 0 || slices.Contains(s.tables[0].listed, true) {
			t.Errorf("an empty sum holds %d samples and lists rows %v", s.held, s.tables[0].touched)
		}
	}
}

// A sum holds exactly as many samples as can't overflow int32: each contributes at most the clipping norm, with a
// margin of 2⁻¹⁷ for rounding errors and a unit for the grid.
func TestReserveHoldsWhatFits(t *testing.T) {
	for _, c := range []struct {
		fine, clip float64
		most       int // by hand
	}{
		{0x1p-21, 1, 1023},      // 2³¹−1 over 2²¹ + 2⁴ + 1
		{0x1p-21, 2, 511},       // over 2²² + 2⁵ + 1
		{0x1p-21, 1.999, 512},   // over 4192239.3
		{0x1p-10, 1, 2_095_090}, // over 1025.0078
	} {
		s := newSum(engine.Layout{Offsets: []int{0}, Lengths: []int{2}, Size: 2}, nil)
		s.begin(c.fine, c.clip)
		s.reserve(c.most)
		if s.filled || s.held != c.most {
			t.Errorf("clipping norm %v on a grid of %v: flushed before %d samples", c.clip, c.fine, c.most)
		}
		if s.reserve(1); !s.filled || s.held != 1 {
			t.Errorf("clipping norm %v on a grid of %v: not flushed after %d samples", c.clip, c.fine, c.most)
		}
	}
}
