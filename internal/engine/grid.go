package engine

import "math"

// Grid is the pair of grids, both powers of two, that a step's sums and noise are rounded to. A sample's contributions
// and the noise are multiples of Fine, and so are their sums, which stay below 2⁵³ Fine, so that adding doubles is
// exact in any order. A released sum is a multiple of Coarse. The package comment explains why.
//
// A contribution is at most 2²² Fine. So single precision can round it, without another rounding: a·b + 1.5·2²³ Fine,
// fused and in any direction, is that number of Fine above 1.5·2²³ Fine, whose bits count them. int32 holds the sum of
// [MostInInt32] of them.
type Grid struct {
	Fine, Coarse float64
}

// MostInInt32 is the number of contributions, in units of Fine, whose sum int32 holds for certain.
const MostInInt32 = 1<<9 - 1

// Grid returns the grids of a run over data of the given size. They depend on public numbers only. Batch and noise
// together stay below 2⁵¹ Fine.
func (m Mechanism) Grid(samples int) Grid {
	g := Grid{Fine: math.Max(
		floorPower(m.ClippingNorm)*0x1p-21,
		floorPower(m.ClippingNorm*(float64(samples)+16*m.NoiseMultiplier+1))*0x1p-50,
	)}
	g.Coarse = g.Fine
	if deviation := m.NoiseDeviation(); deviation > 0 {
		g.Coarse = math.Max(g.Fine, floorPower(deviation)*0x1p-6)
	}
	return g
}

// Release overwrites standard normals with the noisy mean gradient: for each coordinate the sum, a multiple of Fine,
// plus noise, rounded to a multiple of Coarse, of which there are then so many times Coarse/divisor. The noise in units
// of Fine is the normal times deviation/Fine, rounded to a whole number. Quotients and products are rounded to doubles,
// and ties go to even. Both slices have the same length.
func (g Grid) Release(sums, normals []float64, deviation, divisor float64) {
	deviation /= g.Fine
	mean := g.Coarse / divisor
	sums = sums[:len(normals)]
	for j, z := range normals {
		noisy := sums[j] + float64(math.RoundToEven(z*deviation)*g.Fine)
		normals[j] = math.RoundToEven(noisy/g.Coarse) * mean
	}
}

// floorPower returns the largest power of two that is at most x > 0, and NaN if x is infinite.
func floorPower(x float64) float64 {
	fraction, _ := math.Frexp(x)
	return x / (2 * fraction)
}
