package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAccumulateGridExact: the sum is that of the rounded contributions, exactly, in any order.
func TestAccumulateGridExact(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	const n, grid = 500, 0x1p-20
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Ldexp(1, r.IntN(30)-15))
	}
	want := new(big.Float).SetPrec(200)
	for _, v := range x {
		want.Add(want, big.NewFloat(math.RoundToEven(float64(v)/grid)*grid))
	}
	for range 10 {
		r.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
		var acc [1]float64
		for i := range x {
			AccumulateGrid(acc[:], x[i:i+1], grid)
		}
		if want.Cmp(big.NewFloat(acc[0])) != 0 {
			t.Fatalf("sum is %v, want %v", acc[0], want)
		}
	}
}

func TestAccumulateGridTies(t *testing.T) {
	acc := make([]float64, 7)
	AccumulateGrid(acc, []float32{0.5, 1.5, 2.5, -0.5, -1.5, 0.49, 1 << 24}, 1)
	for i, want := range []float64{0, 2, 2, 0, -2, 0, 1 << 24} {
		if acc[i] != want {
			t.Errorf("element %d is %v, want %v", i, acc[i], want)
		}
	}
}
