package enginetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// neighbours checks the sensitivity that the noise covers: one sample more moves the sum by at most C, whatever the
// samples, by both rules of clipping.
func neighbours(t TB, s Suite) {
	const size = 6
	p := inner(t, size)
	r, maximum := rand.New(rand.NewPCG(3, 4)), 20000
	if s.Short {
		maximum = 300
	}
	unit := func() []float64 {
		v, squared := make([]float64, size), 0.0
		for k := range v {
			v[k] = r.NormFloat64()
			squared += v[k] * v[k]
		}
		for k := range v {
			v[k] /= math.Sqrt(squared)
		}
		return v
	}
	for _, j := range byBothRules(p, 1, 3e-9, 7e8) {
		clip := j.Mechanism.ClippingNorm
		axis, limit := unit(), clipTo(j, maximum)
		scaled := func(direction []float64, norm float64) []float64 {
			out := make([]float64, size)
			for k, v := range direction {
				out[k] = v * norm
			}
			return out
		}
		for name, draw := range map[string]func(i int) []float64{
			"aligned":                  func(int) []float64 { return scaled(axis, 100*clip) },
			"aligned along a diagonal": func(int) []float64 { return []float64{clip, clip, clip, clip, clip, clip} },
			"aligned at the limit":     func(int) []float64 { return scaled(axis, limit*(1+r.NormFloat64()*0x1p-20)) },
			"cancelling":               func(i int) []float64 { return scaled(axis, clip*float64(100-200*(i%2))) },
			"small beside large":       func(i int) []float64 { return scaled(axis, clip*math.Pow(2, float64(-i%31))) },
			"clipped, any direction":   func(int) []float64 { return scaled(unit(), clip*1e3) },
			"of any size":              func(int) []float64 { return scaled(unit(), math.Pow(10, r.Float64()*60-30)) },
			"subnormal":                func(int) []float64 { return scaled(unit(), 1e-40) },
			"huge":                     func(int) []float64 { return scaled(unit(), 1e37) },
			"not finite among others": func(i int) []float64 {
				v := scaled(unit(), clip*2)
				if i%5 == 0 {
					v[i%size] = math.NaN()
				}
				return v
			},
		} {
			column := make([]float32, 0, maximum*size)
			for i := range maximum {
				for _, v := range draw(i) {
					column = append(column, float32(v))
				}
			}
			data := &engine.Data{Samples: maximum, Columns: engine.Floats(column)}
			runs, done := s.start(t, p, data, j)
			for i := range maximum * 17 / 100 { // of 20,000, for both rules more than 100,000 pairs of neighbours
				if sum, _ := s.clippedSum(t, runs, 0, []int32{int32(i)}); !(distance(sum, make([]float64, len(sum))) <= clip) {
					t.Errorf("%s: number %d by itself moves the sum by %v times the clipping norm", name, i, distance(sum, make([]float64, len(sum)))/clip)
				}
			}
			for _, of := range []int{1, 2, 64, 65, 66, 129, maximum / 40, maximum} {
				batch := drawn(r, maximum, of)
				with, _ := s.clippedSum(t, runs, 0, batch)
				for _, x := range []int{0, of / 2, of - 1, r.IntN(of)} {
					without, _ := s.clippedSum(t, runs, 0, slices.Delete(slices.Clone(batch), x, x+1))
					if moved := distance(with, without); !(moved <= clip) {
						t.Errorf("%s: of %d samples, number %d moves the sum by %v times the clipping norm", name, of, batch[x], moved/clip)
					}
				}
			}
			done()
		}
	}
}

// wide checks gradients of a million equal elements, by each rule of [compile.Reduction]. Single precision can't add up
// their squares: the sum stagnates, the norm comes out too small, and the gradient contributes more than C.
func wide(t TB, s Suite) {
	g := NewG(1, 8)
	x, y, w := g.In("x", 64, 16, 16), g.In("y", 64, 1, 1), g.Param("w", 64, 64, 16, 16)
	h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{16, 16}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
	conv := g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(h, y)))))
	for name, p := range map[string]*compile.Program{"product": product(t, 1<<10, 1<<10), "broadcast": inner(t, 1<<20), "convolution": conv, "rows": gathering(t, 64, 64, 1<<14)} {
		values := []float32{0.9, 1.3, 0.77}
		if s.Short {
			values = values[:1]
		}
		for _, v := range values {
			data := RandomData(p, 1, 4)
			want := 0x1p20
			for _, c := range data.Columns {
				for k := range c.Floats {
					c.Floats[k] = v
				}
				for k := range c.Ints {
					c.Ints[k] = int32(k)
				}
				if c.Floats != nil {
					want *= float64(v) * float64(v)
				}
			}
			runs, done := s.start(t, p, data, plain(p, 1))
			sum, squared := s.clippedSum(t, runs, 0, []int32{0})
			if got := distance(sum, make([]float64, len(sum))); !(got <= 1 && got > 0.99) {
				t.Errorf("%s: a gradient of a million elements %v contributes %v times the clipping norm", name, v, got)
			}
			if off := math.Abs(squared[0]/want - 1); !(off <= 0x1p-17) {
				t.Errorf("%s: the squared norm of a million elements %v is off by a relative %v", name, v, off)
			}
			done()
		}
	}
}

// scales checks single samples whose values break arithmetic: rows that nearly cancel, sizes at the ends of single
// precision's range, and tiny clipping norms.
func scales(t TB, s Suite) {
	g := NewG(1, 8)
	x, y, w := g.In("x", 2, 40), g.In("y", 2, 30), g.Param("w", 40, 30)
	h := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{2, 40})), w))
	twoRows := g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Reshape(h, tensor.Shape{1, 2, 30})), y)))))
	for name, p := range map[string]*compile.Program{"two rows": twoRows, "one row": product(t, 100, 20)} {
		for _, clip := range []float64{1, 1e-9, 1e9} {
			for _, scale := range [][2]float64{{1, 1}, {1e4, 1}, {1e16, 1e-24}, {1e-24, 1e16}, {1e30, 1e-30}, {1e30, 1e30}, {1e-30, 1e-30}, {3e38, 1e-3}, {1e-44, 3e38}} {
				data := RandomData(p, 1, 4)
				x, y := data.Columns[0].Floats, data.Columns[1].Floats
				if p == twoRows { // the second row nearly cancels the first
					copy(x[40:], x[:40])
					x[40] += 8e-4
					for k := range 30 {
						y[30+k] = -y[k]
					}
				}
				for k := range x {
					x[k] = float32(float64(x[k]) * scale[0])
				}
				for k := range y {
					y[k] = float32(float64(y[k]) * scale[1])
				}
				runs, done := s.start(t, p, data, plain(p, clip))
				sum, _ := s.clippedSum(t, runs, 0, []int32{0})
				if got := distance(sum, make([]float64, len(sum))); !(got <= clip) {
					t.Errorf("%s: a sample of scale %v contributes %v at clipping norm %v", name, scale, got, clip)
				}
				done()
			}
		}
	}
}
