package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// Gaussian releases a sum of vectors, one from each sample and of L2 norm at most C, with Gaussian noise of standard
// deviation NoiseMultiplier·C in every coordinate. A NoiseMultiplier of 0 is a release without noise: its epsilon is
// infinite.
type Gaussian struct {
	NoiseMultiplier float64
}

func (g Gaussian) check(path string) error {
	if !(g.NoiseMultiplier >= 0) || math.IsInf(g.NoiseMultiplier, 1) {
		return invalid(path, "noise multiplier %v is not a finite number >= 0", g.NoiseMultiplier)
	}
	return nil
}

func (Gaussian) free() bool { return false }

func (g Gaussian) curve(r *curves) renyi.Curve { return renyi.Gaussian(g.NoiseMultiplier, r.high) }

func (g Gaussian) pair(r *profiler) (*pld.Pair, error) {
	return r.gaussians(sampledStep{1, g.NoiseMultiplier, 1}, 1)
}

func (g Gaussian) variance(*deviations) float64 { return 1 / g.NoiseMultiplier / g.NoiseMultiplier }

func (Gaussian) theorems() []string { return []string{"Gaussian mechanism"} }
