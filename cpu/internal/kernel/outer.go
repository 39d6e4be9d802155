package kernel

import (
	"fmt"
	"math"
)

// AddOuter adds the outer products of pairs of rows to a matrix of whole numbers, row-major of m×n. Pair l has m
// elements of x and n of y. Products of the first down pairs are rounded down to multiples of grid, those of the up
// pairs after them up, and sum counts these multiples:
//
//	sum[i·n+j] += Σ_{l<down} ⌊x[l·m+i]·y[l·n+j] / grid⌋ + Σ_{l≥down} ⌈x[l·m+i]·y[l·n+j] / grid⌉
//
// A product is rounded once. grid is a power of two from 2⁻¹⁰⁰ to 2¹⁰⁰. The result is unspecified where a product isn't
// finite or above 2²²·grid, and wraps around where the sum is beyond int32.
//
// In single precision numbers from 2²³·grid to 2²⁴·grid step by exactly grid. So a fused multiply-add that rounds down
// adds to such a number, which begins at 1.5·2²³·grid, what the product is rounded down to: one instruction for a
// product, and exact as long as the number stays in that range. Rounding to nearest would not do: which way a tie goes
// would depend on the products before.
func AddOuter(sum []int32, x []float32, m int, y []float32, n, down, up int, grid float64) {
	checkAtLeast("AddOuter", "%s", "m", m, 1)
	checkAtLeast("AddOuter", "%s", "n", n, 1)
	checkAtLeast("AddOuter", "%s", "down", down, 0)
	checkAtLeast("AddOuter", "%s", "up", up, 0)
	checkLength("AddOuter", "sum", len(sum), m*n)
	checkLength("AddOuter", "x", len(x), (down+up)*m)
	checkLength("AddOuter", "y", len(y), (down+up)*n)
	checkGrid("AddOuter", grid)
	for from, k := 0, down+up; from < k; {
		to := from + together(x[from*m:], m, y[from*n:], n, k-from, grid)
		turn := min(max(from, down), to)
		active.addOuter(sum, x[from*m:to*m], m, y[from*n:to*n], n, turn-from, to-turn, float32(grid))
		from = to
	}
}

// mostTogether bounds the pairs that are added in one pass over the sum: a panel of y with so many rows leaves half of
// the first-level cache to x.
const mostTogether = 128

// together returns how many of k pairs can be added in a row without leaving the range in which numbers step by grid:
// one, or as many as surely have products that add up to at most 2²² of these steps.
func together(x []float32, m int, y []float32, n, k int, grid float64) int {
	total, per := 0.0, 1/grid
	for l := range min(k, mostTogether) {
		total += largestOf(x[l*m:][:m])*largestOf(y[l*n:][:n])*per + 1
		if !(total < 1<<22) {
			return max(1, l)
		}
	}
	return min(k, mostTogether)
}

// largestOf returns the largest absolute value. A single one, as in a regression's δ, isn't worth a call.
func largestOf(x []float32) float64 {
	if len(x) == 1 {
		return math.Abs(float64(x[0]))
	}
	return float64(active.maxAbs(x))
}

// checkGrid panics unless single precision can round to the grid.
func checkGrid(kernel string, grid float64) {
	if fraction, _ := math.Frexp(grid); fraction != 0.5 || !(grid >= 0x1p-100 && grid <= 0x1p100) {
		panic(fmt.Sprintf("kernel: %s: grid %v is not a power of two from 2⁻¹⁰⁰ to 2¹⁰⁰", kernel, grid))
	}
}

func addOuterPlain(sum []int32, x []float32, m int, y []float32, n, down, up int, grid float32) {
	per := 1 / float64(grid)
	for l := range down + up {
		row := y[l*n : (l+1)*n]
		for i, v := range x[l*m : (l+1)*m] {
			out, scaled := sum[i*n:(i+1)*n], float64(v)*per
			for j, w := range row {
				steps := scaled * float64(w)
				if l < down {
					out[j] += int32(math.Floor(steps))
				} else {
					out[j] += int32(math.Ceil(steps))
				}
			}
		}
	}
}
