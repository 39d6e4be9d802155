package float

import "math"

// ProductUp returns x·y, rounded up, for non-negative x and y.
func ProductUp(x, y float64) float64 {
	p := x * y
	inexact := p < 0x1p-960 && x > 0 && y > 0 // where the fused product's rounding doesn't show the error
	if inexact || math.FMA(x, y, -p) > 0 {
		return math.Nextafter(p, math.Inf(1))
	}
	return p
}
