package cpu

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// A function with a loop of its own agrees with its definition, for every kind of number.
func TestAtLeast(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	values := []float32{-inf, -1, -math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), 0, math.SmallestNonzeroFloat32, 1, inf, nan}
	got := make([]float32, len(values))
	for _, s := range values {
		binaryScalar(compile.Gte, got, values, s, false)
		for i, v := range values {
			if want := compile.Gte.Binary(float64(v), float64(s)); float64(got[i]) != want {
				t.Errorf("%v ≥ %v is %v, want %v", v, s, got[i], want)
			}
		}
	}
}
