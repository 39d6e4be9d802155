package engine

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestClipFactor(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		squared, clip    float64
		fixed, automatic float32
	}{
		{0, 1, 1, 100}, {1, 1, 1, 1 / 1.01}, {0.98 * 0.98, 1, 1, 1 / 0.99}, {4, 1, 0.5, 1 / 2.01}, {9, 1.5, 0.5, 1.5 / 3.01}, {1e40, 1e10, 1e-10, 1e-10},
		{0x1p200, 1, 0x1p-100, 0x1p-100}, {0x1.01p200, 1, 0, 0}, {math.MaxFloat64, 1, 0, 0}, {0, maxNorm, 1, 1e14}, {0, 0x1p-107, 1, 0},
		{inf, 1, 0, 0}, {nan, 1, 0, 0}, {inf, 1e300, 0, 0}, {-1, 1, 0, 0}, {5e-324, 1e-9, 1, 1e-7},
	} {
		if fixed, automatic := ClipFactor(c.squared, c.clip, false), ClipFactor(c.squared, c.clip, true); fixed != c.fixed || automatic != c.automatic {
			t.Errorf("squared norm %v, clipped to %v: factors %v and %v, want %v and %v", c.squared, c.clip, fixed, automatic, c.fixed, c.automatic)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		norm := math.Exp(rapid.Float64Range(-80, 80).Draw(t, "log norm"))
		clip := math.Exp(rapid.Float64Range(-21, 21).Draw(t, "log clip"))
		for _, automatic := range []bool{false, true} {
			exact := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetFloat64(norm * norm))
			if automatic {
				exact.Add(exact, big.NewFloat(0.01))
			}
			want, _ := exact.Quo(big.NewFloat(clip), exact).Float64()
			if !automatic {
				want = min(1, want)
			}
			// Rounded once to single precision, but for errors of float64.
			f := float64(ClipFactor(norm*norm, clip, automatic))
			if want > 0x1.01p-100 && math.Abs(f-want) > 0x1p-24*(1+0x1p-20)*floorPower(want) {
				t.Fatalf("norm %v, clipped to %v, automatically %v: factor %v, want %v", norm, clip, automatic, f, want)
			}
			// The bound of the package comment, and no overflow beside the largest element.
			if f < 0 || f*norm > clip*(1+0x1p-24)*(1+0x1p-50) || f*0x1p60 > math.MaxFloat32 {
				t.Fatalf("norm %v, clipped to %v, automatically %v: factor %v", norm, clip, automatic, f)
			}
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
