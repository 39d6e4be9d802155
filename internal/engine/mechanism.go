package engine

import (
	"fmt"
	"math"
)

// Mechanism is the part of a job that the privacy guarantee depends on.
type Mechanism struct {
	SamplingProbability float64 // of each member at each step, independently; in [0, 1]
	NoiseMultiplier     float64 // σ, the standard deviation of the noise over ClippingNorm; 0 adds none
	ClippingNorm        float64 // C: the noise covers a sensitivity of C in L2 norm
	ExpectedBatchSize   float64 // the divisor of the noisy sum
	Automatic           bool    // automatic clipping: see [ClipFactor]; the sensitivity is the same
}

// Stability is added to norms in automatic clipping, so that small gradients stay smaller than large ones: γ in Bu,
// Wang, Zha and Karypis, "Automatic Clipping: Differentially Private Deep Learning Made Easier and Stronger" (NeurIPS
// 2023), whose AUTO-S has this value.
const Stability = 0.01

// minNorm and maxNorm bound clipping norms so that single precision neither overflows nor underflows, with room to
// spare; see the package comment.
const minNorm, maxNorm = 1e-12, 1e12

// ClipTo returns the norm that gradients of d coordinates, padding included ([Layout]), are clipped to, slightly less
// than C. Norms, clip factors and contributions are rounded, so that a sample whose gradient was clipped to C could
// move the computed sum by more than C, and noise for a sensitivity of C would fall short of its noise multiplier.
// Casacuberta, Shoemate, Vadhan and Wagaman, "Widespread Underestimation of Sensitivity in Differentially Private
// Libraries and How to Fix It" (CCS 2022), show that libraries overlooked this. The package comment derives the margin.
func (m Mechanism) ClipTo(g Grid, d int) float64 {
	return (m.ClippingNorm - g.offset(d)) / (1 + 0x1p-16)
}

// offset bounds how far rounding to the grid moves a contribution to d coordinates, in L2 norm.
func (g Grid) offset(d int) float64 { return math.Sqrt(float64(d)) * g.Fine }

// NoiseDeviation returns the standard deviation of the noise in each coordinate, σ·C.
func (m Mechanism) NoiseDeviation() float64 { return m.NoiseMultiplier * m.ClippingNorm }

// ClipFactor returns the factor that a gradient of the given squared norm is multiplied by: min(1, c/norm), or
// c/(norm + [Stability]) with automatic clipping, computed in float64 and rounded to float32. It returns 0 if the norm
// isn't finite, and then the sample, whose gradient may have NaNs, contributes nothing to the sum. It also returns 0
// for a factor below 2⁻¹⁰⁰, because single precision would round its products too coarsely.
func ClipFactor(squaredNorm, c float64, automatic bool) float32 {
	norm := math.Sqrt(squaredNorm)
	switch {
	case automatic:
		norm += Stability
	case norm <= c:
		return 1
	}
	if factor := c / norm; factor >= 0x1p-100 {
		return float32(factor)
	}
	return 0 // NaN and infinity too
}

func (m Mechanism) check() error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case !(m.SamplingProbability >= 0 && m.SamplingProbability <= 1):
		return &FieldError{"Mechanism.SamplingProbability", fmt.Sprintf("%v is outside [0, 1]", m.SamplingProbability)}
	case !(m.NoiseMultiplier >= 0 && finite(m.NoiseMultiplier)):
		return &FieldError{"Mechanism.NoiseMultiplier", fmt.Sprintf("%v isn't a number from 0 up", m.NoiseMultiplier)}
	case !(m.ClippingNorm >= minNorm && m.ClippingNorm <= maxNorm):
		return &FieldError{"Mechanism.ClippingNorm", fmt.Sprintf("%v is outside [%v, %v]", m.ClippingNorm, minNorm, maxNorm)}
	case !(m.ExpectedBatchSize > 0 && finite(m.ExpectedBatchSize)):
		return &FieldError{"Mechanism.ExpectedBatchSize", fmt.Sprintf("%v isn't a positive number", m.ExpectedBatchSize)}
	}
	return nil
}

// checkSums refuses a job if rounding a contribution to the grid could move it by more than a sixteenth of C, and if
// rounding its noise to the grid would change its variance by more than some thousandth. The former takes tens of
// billions of parameters, or a noise multiplier above some 2⁴²/√parameters; the latter one below 2⁻¹⁸.
func (m Mechanism) checkSums(samples, parameters int) error {
	g, deviation := m.Grid(samples), m.NoiseDeviation()
	if !(g.offset(parameters) <= m.ClippingNorm/16) { // NaN if noise is infinite
		return &FieldError{"Mechanism", fmt.Sprintf("%d parameters, %d samples and noise multiplier %v are too much for exact sums", parameters, samples, m.NoiseMultiplier)}
	}
	if m.NoiseMultiplier > 0 && deviation < 8*g.Fine {
		return &FieldError{"Mechanism.NoiseMultiplier", fmt.Sprintf("noise of a standard deviation of %v is too little for sums that are multiples of %v", deviation, g.Fine)}
	}
	return nil
}
