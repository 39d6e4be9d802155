package compile

import "math"

// Clip returns min(1, c/‖g‖) for a squared norm, and 0 where the norm isn't finite: such a sample
// contributes nothing. Nor does one that would be scaled by less than 2⁻¹⁰⁰: in single precision the
// factor, and what it scales, would be rounded too coarsely to keep to c.
func Clip(squaredNorm, c float64) float64 {
	norm := math.Sqrt(squaredNorm)
	switch {
	case norm <= c:
		return 1
	case c/norm >= 0x1p-100:
		return c / norm
	}
	return 0 // NaN and infinity come here too
}
