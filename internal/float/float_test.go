package float

import (
	"math"
	"testing"
)

// The odds of two classes are e to the difference of their logits over the temperature.
func TestSoftmax(t *testing.T) {
	for _, c := range []struct{ temperature, want float64 }{{1, 1 / (1 + math.Exp(-3))}, {3, 1 / (1 + math.Exp(-1))}, {0.5, 1 / (1 + math.Exp(-6))}} {
		p := Softmax([]float32{5, 2}, c.temperature)
		if math.Abs(p[0]-c.want) > 1e-15 || math.Abs(p[0]+p[1]-1) > 1e-15 {
			t.Errorf("at temperature %v: %v, want %v", c.temperature, p, c.want)
		}
	}
}

// Subnormal products are rounded up too, by mpmath with 800 digits.
func TestProductUp(t *testing.T) {
	if p := ProductUp(1e-200, 7.3e-124); p < 7.3e-324 {
		t.Errorf("1e-200 times 7.3e-124 is %v, rounded up", p)
	}
	if p := ProductUp(0.5, 0.25); p != 0.125 {
		t.Errorf("an exact product is %v", p)
	}
	if p := ProductUp(0, 1e-300); p != 0 {
		t.Errorf("0 times a rate is %v", p)
	}
}

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
