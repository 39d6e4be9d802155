package kernel

import (
	"fmt"
	"math"
)

// AddOuter adds the outer products of k pairs of rows to a matrix of whole numbers, row-major of m×n. Pair l has m
// elements of x and n of y. Its products are rounded to multiples of grid, ties to even, and sum counts these
// multiples:
//
//	sum[i·n+j] += Σ_l round(x[l·m+i]·y[l·n+j] / grid)
//
// A product is rounded once. grid is a power of two from 2⁻¹⁰⁰ to 2¹⁰⁰. The result is unspecified where a product isn't
// finite or above 2²²·grid, and wraps around where the sum is beyond int32.
//
// In single precision x·y + M − M, with M = 1.5·2²³·grid and the first two operations fused, is the rounded product: at
// M's magnitude a float32 steps by exactly grid. The bits of x·y + M minus the bits of M are the number of these steps.
func AddOuter(sum []int32, x []float32, m int, y []float32, n, k int, grid float64) {
	checkAtLeast("AddOuter", "%s", "m", m, 1)
	checkAtLeast("AddOuter", "%s", "n", n, 1)
	checkLength("AddOuter", "sum", len(sum), m*n)
	checkLength("AddOuter", "x", len(x), k*m)
	checkLength("AddOuter", "y", len(y), k*n)
	checkGrid("AddOuter", grid)
	if k > 0 {
		active.addOuter(sum, x, m, y, n, k, float32(grid))
	}
}

// checkGrid panics unless single precision can round to the grid.
func checkGrid(kernel string, grid float64) {
	if fraction, _ := math.Frexp(grid); fraction != 0.5 || !(grid >= 0x1p-100 && grid <= 0x1p100) {
		panic(fmt.Sprintf("kernel: %s: grid %v is not a power of two from 2⁻¹⁰⁰ to 2¹⁰⁰", kernel, grid))
	}
}

func addOuterPlain(sum []int32, x []float32, m int, y []float32, n, k int, grid float32) {
	per := 1 / float64(grid)
	for l := range k {
		row := y[l*n : (l+1)*n]
		for i, v := range x[l*m : (l+1)*m] {
			out, scaled := sum[i*n:(i+1)*n], float64(v)*per
			for j, w := range row {
				out[j] += int32(math.RoundToEven(scaled * float64(w)))
			}
		}
	}
}
