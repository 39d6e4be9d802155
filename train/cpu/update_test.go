package cpu

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/engine"
	"pgregory.net/rapid"
)

// Whatever the sum, what leaves is a multiple of the coarse grid, within rounding of sum plus noise; and a
// sum moved by a multiple of the coarse grid moves the outcome by exactly that, for the same noise.
func TestNoisyMeanIsOnTheGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := engine.Mechanism{
			NoiseMultiplier:   rapid.Float64Range(0.1, 100).Draw(t, "noise"),
			ClippingNorm:      math.Exp(rapid.Float64Range(-18, 18).Draw(t, "log clip")),
			ExpectedBatchSize: 1,
		}
		samples := rapid.IntRange(1, 1e6).Draw(t, "samples")
		r := &run{job: engine.Job{Mechanism: m, Key: random.InsecureKey(1)}, std: m.NoiseMultiplier * m.ClippingNorm, grid: gridFor(m, samples)}
		r.coarse = coarseFor(r.grid, r.std)
		if r.coarse < r.grid || r.coarse > r.std*0x1p-5 {
			t.Fatalf("coarse grid %v for fine grid %v and deviation %v", r.coarse, r.grid, r.std)
		}
		const n = 8
		p := piece{to: n}
		sum, moved := make([]float64, n), make([]float64, n)
		shift := r.coarse * float64(rapid.IntRange(-100, 100).Draw(t, "shift"))
		for j := range sum {
			x := rapid.Float64Range(-1, 1).Draw(t, "sum") * m.ClippingNorm * float64(samples)
			sum[j] = math.RoundToEven(x/r.grid) * r.grid
			moved[j] = sum[j] + shift
		}
		noise, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
		r.job.Key.Stream(random.ID{Purpose: random.Noise}).Normals(noise)
		r.noisyMean(p, sum, a)
		r.noisyMean(p, moved, b)
		for j := range a {
			if a[j] != math.RoundToEven(a[j]/r.coarse)*r.coarse {
				t.Fatalf("%v isn't a multiple of %v", a[j], r.coarse)
			}
			if exact := sum[j] + noise[j]*r.std; math.Abs(a[j]-exact) > r.coarse {
				t.Fatalf("%v is further from %v than %v", a[j], exact, r.coarse)
			}
			if b[j]-a[j] != shift {
				t.Fatalf("a sum moved by %v moves the outcome by %v", shift, b[j]-a[j])
			}
		}
	})
}
