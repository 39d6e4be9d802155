package engine

import (
	"errors"
	"math"
	"strings"
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

// The errors listed in the package comment add up to less than C, and clipping wastes little of C.
func TestClippingCoversRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, samples := anyMechanism(t), rapid.IntRange(0, math.MaxInt32).Draw(t, "samples")
		d := int(math.Exp2(rapid.Float64Range(0, 36).Draw(t, "log parameters")))
		g := m.Grid(samples)
		if m.checkSums(samples, d) != nil {
			return
		}
		c, offset := m.ClipTo(g, d), math.Sqrt(float64(d))*g.Fine
		if moved := c*(1+0x1p-18)*(1+0x1p-24)*(1+0x1p-24) + offset + 0x1p-90*math.Sqrt(float64(d)); !(moved < m.ClippingNorm) {
			t.Fatalf("%+v, %d parameters: a sample moves the sum by %v", m, d, moved)
		}
		if !(c+offset > m.ClippingNorm*(1-0x1p-15)) {
			t.Fatalf("%+v, %d parameters: clipped to %v", m, d, c)
		}
		if largest := c * (1 + 0x1p-17) / g.Fine; !(largest < 0x1p22) || MostInInt32*(largest+1) > math.MaxInt32 {
			t.Fatalf("%+v: a contribution of %v times the fine grid", m, largest)
		}
	})
}

// A job whose grid would round too coarsely is refused, whether because of parameters, samples or noise.
func TestSumsThatCannotBeExact(t *testing.T) {
	for _, c := range []struct {
		noise               float64
		samples, parameters int
		fits                bool
	}{
		{1, 60000, 110000, true},
		{1, 60000, 1 << 34, true},
		{0, 0, 1 << 34, true},
		{1, math.MaxInt32, 1e9, true},
		{1e4, 1e6, 1e6, true},
		{1, 1e9, 1 << 37, false},
		{1e12, 10, 1e6, false},
		{1e30, 1, 1, false},
		{1e300, 1, 1, false},
		{1.7e308, 1, 1, false},
		{1e-5, 60000, 110000, true},
		{1e-6, 60000, 110000, false},
		{5e-324, 1, 1, false},
	} {
		m := Mechanism{NoiseMultiplier: c.noise, ClippingNorm: 3}
		err := m.checkSums(c.samples, c.parameters)
		var fault *FieldError
		if c.fits != (err == nil) || !c.fits && (!errors.As(err, &fault) || !strings.HasPrefix(fault.Field, "Mechanism")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
