package engine

import "math"

// Grid is the pair of grids that a step's sums and noise are rounded to, both powers of two. The clipped sums of
// chunks, and so of a step, are multiples of Fine, of which a double counts more than any step needs: sums are exact,
// in whatever order they are taken. What leaves a step is a multiple of Coarse: see the package comment on noise.
type Grid struct {
	Fine, Coarse float64
}

// Grid returns the grids of a run over data of the given number of places. They depend on public numbers only. Batch
// and noise together stay below 2⁵¹ Fine.
func (m Mechanism) Grid(samples int) Grid {
	g := Grid{Fine: floorPower(m.ClippingNorm*(float64(samples)+16*m.NoiseMultiplier+1)) * 0x1p-50}
	g.Coarse = g.Fine
	if deviation := m.NoiseDeviation(); deviation > 0 {
		g.Coarse = math.Max(g.Fine, floorPower(deviation)*0x1p-6)
	}
	return g
}

// Round returns the multiple of Fine that is nearest to one coordinate of a chunk's sum, ties to even.
func (g Grid) Round(sum float32) float64 { return math.RoundToEven(float64(sum)/g.Fine) * g.Fine }

// Release turns standard normals into what the optimizer gets: the sums, which are multiples of Fine, plus noise,
// rounded to multiples of Coarse, and then divided. Each coordinate's noise is its normal times the deviation, in one
// rounding, and then rounded to Fine; ties go to even. The slices have one length.
func (g Grid) Release(sums, normals []float64, deviation, divisor float64) {
	fine, coarse := g.Fine, g.Coarse
	perFine, perCoarse := 1/fine, 1/coarse // of powers of two: exact, as are products with them
	sums = sums[:len(normals)]
	for j, z := range normals {
		noisy := sums[j] + math.RoundToEven(float64(z*deviation)*perFine)*fine
		normals[j] = math.RoundToEven(noisy*perCoarse) * coarse / divisor
	}
}

// floorPower returns the largest power of two that is at most x.
func floorPower(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-1)
}
