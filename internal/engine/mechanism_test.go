package engine

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestClipFactor(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		squared, clip float64
		want          float32
	}{
		{0, 1, 1}, {1, 1, 1}, {0.99, 1, 1}, {4, 1, 0.5}, {9, 1.5, 0.5}, {1e40, 1e10, 1e-10}, {0x1p200, 1, 0x1p-100},
		{0x1.01p200, 1, 0}, {math.MaxFloat64, 1, 0}, {inf, 1, 0}, {nan, 1, 0}, {inf, 1e300, 0}, {-1, 1, 0}, {5e-324, 1e-9, 1},
	} {
		if got := ClipFactor(c.squared, c.clip); got != c.want {
			t.Errorf("squared norm %v, clipped to %v: factor %v, want %v", c.squared, c.clip, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		norm := math.Exp(rapid.Float64Range(-80, 80).Draw(t, "log norm"))
		clip := math.Exp(rapid.Float64Range(-21, 21).Draw(t, "log clip"))
		f := float64(ClipFactor(norm*norm, clip))
		if f < 0 || f > 1 || f*norm > clip*(1+0x1p-23) {
			t.Fatalf("norm %v, clipped to %v: factor %v", norm, clip, f)
		}
		if want := math.Min(1, clip/norm); want > 0x1.01p-100 && math.Abs(f-want) > 0x1p-23*want {
			t.Fatalf("norm %v, clipped to %v: factor %v, want %v", norm, clip, f, want)
		}
	})
}

// The errors that the package comment lists add up to less than the margin.
func TestMarginCoversRounding(t *testing.T) {
	const c, u = 1 - 0x1p-10, 0x1p-24
	m := Mechanism{ClippingNorm: 1}
	if m.ClipTo() != c {
		t.Fatalf("clipped to %v", m.ClipTo())
	}
	worst := 0.0
	for in := 0; in <= MostInChunk; in++ { // samples of x's chunk, without x
		without := float64(in*(in+2)) * u * c
		with := float64((in+1)*(in+3)) * u * c
		if in == MostInChunk {
			with = 0
			for first := 1; first <= MostInChunk; first++ { // in two chunks; more of them are smaller
				second := in + 1 - first
				with = max(with, float64(first*(first+2)+second*(second+2))*u*c)
			}
		}
		worst = max(worst, without+with)
	}
	if total := c*(1+0x1p-17) + worst + 0x1p-12; total >= 1 || total < 1-0x1p-10 {
		t.Errorf("a sample may move the sum by %v", total)
	}
}

// A job whose grid would round too coarsely for its margin is refused, whether parameters, samples or noise make it so.
func TestSumsThatCannotBeExact(t *testing.T) {
	for _, c := range []struct {
		noise               float64
		samples, parameters int
		fits                bool
	}{
		{1, 60000, 110000, true},
		{1, 60000, 1e8, true},
		{1, 1e9, 100, true},
		{1e4, 1e6, 1e6, true},
		{1, 1e9, 1e9, false},
		{1e9, 10, 1e6, false},
		{1e30, 1, 1, false},
	} {
		m := Mechanism{NoiseMultiplier: c.noise, ClippingNorm: 3}
		err := m.checkSums(c.samples, c.parameters)
		var fault *FieldError
		if c.fits != (err == nil) || !c.fits && (!errors.As(err, &fault) || fault.Field != "Mechanism") {
			t.Errorf("%+v: %v", c, err)
		}
		// Each of 66 roundings moves a coordinate by at most half of Fine.
		moved := 66 * math.Sqrt(float64(c.parameters)) * m.Grid(c.samples).Fine / 2
		if c.fits && moved > 3*0x1p-12 || !c.fits && moved < 3*0x1p-13 {
			t.Errorf("%+v: roundings move a sum by up to %v", c, moved)
		}
	}
}
