package float

import (
	"math"
	"testing"
)

// TestLogarithms: math.Log is wrong for subnormal numbers on some processors.
func TestLogarithms(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		if got, want := Log(math.Ldexp(1, e)), float64(e)*math.Ln2; math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("ln(2^%d) = %v, want %v", e, got, want)
		}
	}
	for x, want := range map[float64]float64{1: 0, 0: math.Inf(-1), math.Inf(1): math.Inf(1)} {
		if got := Log(x); got != want {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(Log(-1)) {
		t.Error("ln(-1) is a number")
	}
}
