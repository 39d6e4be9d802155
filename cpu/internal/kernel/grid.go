package kernel

import (
	"fmt"
	"math"
)

// AccumulateGrid rounds each x[i] to a multiple of grid, ties to even, and adds it to acc[i]. grid is a
// power of two. While |x[i]| is at most 2⁵¹·grid and |acc[i]| at most 2⁵³·grid the addition is exact, so the
// accumulated sum doesn't depend on the order in which contributions arrive.
//
// The rounding is acc[i] += (x[i] + M) − M in float64 with M = 1.5·2⁵²·grid: at M's magnitude a float64
// steps by exactly grid.
func AccumulateGrid(acc []float64, x []float32, grid float64) {
	checkLength("AccumulateGrid", "x", len(x), len(acc))
	if fraction, _ := math.Frexp(grid); fraction != 0.5 {
		panic(fmt.Sprintf("kernel: AccumulateGrid: grid %v is not a power of two", grid))
	}
	active.accumulateGrid(acc, x, 1.5*(1<<52)*grid)
}

func accumulateGridPlain(acc []float64, x []float32, magic float64) {
	for i := range acc {
		acc[i] += (float64(x[i]) + magic) - magic
	}
}
