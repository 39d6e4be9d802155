package engine

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// anyMechanism draws a mechanism that passes the checks, over the whole range.
func anyMechanism(t *rapid.T) Mechanism {
	return Mechanism{
		SamplingProbability: 0.5,
		NoiseMultiplier:     rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e4), rapid.Float64Range(1e4, 1e9)).Draw(t, "noise"),
		ClippingNorm:        math.Exp(rapid.Float64Range(-21, 21).Draw(t, "log clip")),
		ExpectedBatchSize:   1,
	}
}

// multiple reports whether x is a multiple of g, by exact arithmetic.
func multiple(x, g float64) bool {
	return new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(g)).IsInt()
}

// nearest returns the multiple of g nearest to x, ties to even multiples, by exact arithmetic.
func nearest(x *big.Rat, g float64) *big.Rat {
	q := new(big.Rat).Quo(x, new(big.Rat).SetFloat64(g))
	half := big.NewRat(1, 2)
	down := new(big.Int).Div(q.Num(), q.Denom()) // rounds towards -Inf: denominators are positive
	over := new(big.Rat).Sub(q, new(big.Rat).SetInt(down))
	if c := over.Cmp(half); c > 0 || c == 0 && down.Bit(0) == 1 {
		down.Add(down, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(down), new(big.Rat).SetFloat64(g))
}

// Grids are powers of two, all sums of a step are exact on the fine one, and the coarse one is 2⁻⁷ to 2⁻⁶ of the noise.
func TestGrids(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, samples := anyMechanism(t), rapid.IntRange(0, math.MaxInt32).Draw(t, "samples")
		g := m.Grid(samples)
		for _, v := range []float64{g.Fine, g.Coarse} {
			if f, _ := math.Frexp(v); f != 0.5 {
				t.Fatalf("grid %v isn't a power of two", v)
			}
		}
		largest := m.ClippingNorm * (float64(samples) + 9.5*m.NoiseMultiplier)
		if largest/g.Fine > 0x1p51 {
			t.Fatalf("a sum of %v is %v times the fine grid", largest, largest/g.Fine)
		}
		if d := m.NoiseDeviation(); d > 0 && !(g.Coarse == g.Fine || g.Coarse <= d*0x1p-6 && g.Coarse > d*0x1p-7) {
			t.Fatalf("coarse grid %v for noise of %v and a fine grid of %v", g.Coarse, d, g.Fine)
		}
		if g.Coarse < g.Fine || m.NoiseMultiplier == 0 && g.Coarse != g.Fine {
			t.Fatalf("grids %+v", g)
		}
	})
}

// release releases one coordinate.
func release(g Grid, sum, normal, deviation float64) float64 {
	normals := []float64{normal}
	g.Release([]float64{sum}, normals, deviation, 1)
	return normals[0]
}

// In single precision a product is rounded to the grid as [Grid] describes, to nearest: package cpu's kernels check the
// other directions.
func TestSinglePrecisionRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, samples := anyMechanism(t), rapid.IntRange(0, math.MaxInt32).Draw(t, "samples")
		g := m.Grid(samples)
		// Products of every size, including the largest, and of few bits, so that there are ties.
		b := float32(math.Exp2(rapid.Float64Range(-40, 40).Draw(t, "log b")))
		product := rapid.OneOf(
			rapid.Float64Range(-m.ClippingNorm, m.ClippingNorm),
			rapid.Map(rapid.IntRange(-1<<23, 1<<23), func(n int) float64 { return float64(n) / 2 * g.Fine }),
		).Draw(t, "product")
		if rapid.Bool().Draw(t, "power of two") {
			b = float32(floorPower(float64(b)))
		}
		a := float32(product / float64(b))
		exact := new(big.Rat).Mul(new(big.Rat).SetFloat64(float64(a)), new(big.Rat).SetFloat64(float64(b)))
		if f, _ := exact.Float64(); math.Abs(f) > m.ClippingNorm {
			return
		}
		magic := 1.5 * 0x1p23 * g.Fine
		sum, _ := new(big.Rat).Add(exact, new(big.Rat).SetFloat64(magic)).Float32() // one rounding
		units := int32(math.Float32bits(sum) - math.Float32bits(float32(magic)))
		if new(big.Rat).SetFloat64(float64(units)*g.Fine).Cmp(nearest(exact, g.Fine)) != 0 {
			t.Fatalf("%v times %v is %d in single precision", a, b, units)
		}
	})
}

// Release agrees with exact arithmetic, and a sum moved by a multiple of the coarse grid moves the result by
// exactly that.
func TestRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, samples := anyMechanism(t), rapid.IntRange(0, 1e6).Draw(t, "samples")
		g, deviation := m.Grid(samples), m.NoiseDeviation()
		sum := math.RoundToEven(rapid.Float64Range(-1, 1).Draw(t, "sum")*m.ClippingNorm*float64(samples)/g.Fine) * g.Fine
		z := rapid.Float64Range(-9.5, 9.5).Draw(t, "normal")
		noise := nearest(new(big.Rat).SetFloat64(z*deviation), g.Fine)
		want := nearest(noise.Add(noise, new(big.Rat).SetFloat64(sum)), g.Coarse)
		got := release(g, sum, z, deviation)
		if new(big.Rat).SetFloat64(got).Cmp(want) != 0 {
			t.Fatalf("sum %v and noise %v·%v are released as %v, want %v", sum, z, deviation, got, want)
		}
		if !multiple(got, g.Coarse) || math.Abs(got-(sum+z*deviation)) > g.Coarse {
			t.Fatalf("sum %v and noise %v·%v are released as %v on %+v", sum, z, deviation, got, g)
		}
		shift := g.Coarse * float64(2*rapid.IntRange(-50, 50).Draw(t, "shift")) // even: ties stay to the same side
		if moved := release(g, sum+shift, z, deviation); math.Abs(sum+shift) < 0x1p51*g.Fine && moved-got != shift {
			t.Fatalf("a sum moved by %v moves the outcome by %v", shift, moved-got)
		}
	})
}

// Noise is rounded before it is added: half of Fine, alone, rounds to 0, and doesn't round an odd sum to the next
// multiple.
func TestNoiseIsRoundedByItself(t *testing.T) {
	m := Mechanism{NoiseMultiplier: 1e-16, ClippingNorm: 1}
	g := m.Grid(1)
	if g.Coarse != g.Fine {
		t.Fatalf("grids %+v aren't one", g)
	}
	for normal, want := range map[float64]float64{0.5: 1, 1.5: 3, -0.5: 1, -1.5: -1, 2.25: 3} {
		if got := release(g, g.Fine, normal, g.Fine); got != want*g.Fine {
			t.Errorf("a sum of 1 and noise of %v are released as %v", normal, got/g.Fine)
		}
	}
}

// Ties of a sum and noise go to even multiples of the coarse grid.
func TestReleaseOfTies(t *testing.T) {
	g := Grid{Fine: 1, Coarse: 2}
	for sum, want := range map[float64]float64{1: 0, 3: 4, 5: 4, 7: 8, -1: 0, -3: -4} {
		if got := release(g, sum, 0, 1); got != want {
			t.Errorf("%v is released as %v, want %v", sum, got, want)
		}
	}
}

func TestReleaseDivides(t *testing.T) {
	m := Mechanism{NoiseMultiplier: 1, ClippingNorm: 1}
	g := m.Grid(100)
	normals := []float64{0.25, -1.5}
	g.Release([]float64{3, 5}, normals, 1, 7)
	if mean := g.Coarse / 7; g.Coarse != 0x1p-6 || normals[0] != 208*mean || normals[1] != 224*mean { // 3.25 and 3.5
		t.Errorf("released %v", normals)
	}
}

func BenchmarkRelease(b *testing.B) {
	m := Mechanism{NoiseMultiplier: 1, ClippingNorm: 1}
	g := m.Grid(60000)
	sums, normals := make([]float64, 4096), make([]float64, 4096)
	for b.Loop() {
		for j := range normals {
			normals[j] = float64(j%7) - 3
		}
		g.Release(sums, normals, 1, 128)
	}
}
