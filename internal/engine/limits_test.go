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
			if got, want := ClipFactor(sq, c), float32(c/math.Sqrt(sq)); got != want || got == 1 {
				t.Errorf("a norm of %v c is scaled by %v, want %v", over, got, want)
			}
		}
	}
}

// A job may move sums by exactly as much as the proof in the package comment allows, (M+2)·√d·Fine/2 of 2⁻¹²C, and no
// more.
func TestSumsAreRefusedWhereTheProofEnds(t *testing.T) {
	const parameters = 1 << 20
	m := Mechanism{SamplingProbability: 1, ClippingNorm: 1, ExpectedBatchSize: 1}
	m.NoiseMultiplier = 1 << 18 // Fine is 2⁻²⁸, and 66·2¹⁰·2⁻²⁹ is just above 2⁻¹³
	if err := m.checkSums(0, parameters); err != nil {
		t.Error(err)
	}
	m.NoiseMultiplier = 1 << 19 // twice that, just above 2⁻¹²; 64·2¹⁰·2⁻²⁸ would be 2⁻¹² itself
	if err := m.checkSums(0, parameters); err == nil {
		t.Error("roundings may move a sum by more than a quarter of the margin")
	}
}
