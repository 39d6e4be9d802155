package engine

import (
	"math"
	"testing"
)

// ClipFactor is min(1, c/norm) to the bit, for norms right beside c too.
func TestClipFactorBesideC(t *testing.T) {
	for _, c := range []float64{1, 0.3, 1e-9, 1e9} {
		for _, over := range []float64{1 + 0x1p-20, 1 + 0x1p-15, 1 + 0x1p-13, 1.5} {
			sq := c * over * (c * over)
			if got, want := ClipFactor(sq, c, false), float32(c/math.Sqrt(sq)); got != want || got == 1 {
				t.Errorf("a norm of %v c is scaled by %v, want %v", over, got, want)
			}
		}
	}
}

// Rounding may move a contribution by exactly as much as the proof in the package comment allows, √d·Fine of C/16,
// and no more.
func TestSumsAreRefusedWhereTheProofEnds(t *testing.T) {
	m := Mechanism{ClippingNorm: 1}
	if err := m.checkSums(0, 1<<34); err != nil { // Fine is 2⁻²¹
		t.Error(err)
	}
	if err := m.checkSums(0, 1<<34+1<<12); err == nil {
		t.Error("rounding may move a contribution by more than a sixteenth of C")
	}
}

// Noise is refused if its grid would show in it, or if it is too large, at the minimum and maximum clipping norms.
func TestNoiseThatTheGridWouldChange(t *testing.T) {
	for _, c := range []struct {
		m    Mechanism
		fits bool
	}{
		{Mechanism{ClippingNorm: 1, NoiseMultiplier: 0x1p-18}, true}, {Mechanism{ClippingNorm: 1, NoiseMultiplier: 0x1.fp-19}, false},
		{Mechanism{ClippingNorm: maxNorm, NoiseMultiplier: 2e295}, false}, {Mechanism{ClippingNorm: maxNorm, NoiseMultiplier: 1e300}, false},
		{Mechanism{ClippingNorm: minNorm, NoiseMultiplier: math.MaxFloat64}, false}, {Mechanism{ClippingNorm: minNorm, NoiseMultiplier: 1}, true},
	} {
		if err := c.m.checkSums(1, 1); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c.m, err)
		}
	}
}
