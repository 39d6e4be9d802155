package float

import (
	"math"
	"strconv"
)

// Rounded returns the number with so many significant digits that is the nearest to v.
func Rounded(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // it was just printed
	return r
}

// Softmax returns the softmax of one sample's logits after a division by a temperature, which must be above 0.
// Above 1 it makes probabilities less certain, below 1 more. The largest one stays the largest.
func Softmax(logits []float32, temperature float64) []float64 {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = math.Max(largest, float64(v))
	}
	p, sum := make([]float64, len(logits)), 0.0
	for i, v := range logits {
		if math.IsInf(largest, 1) { // it has all of the probability; ∞ − ∞ would be NaN
			p[i] = 0
			if float64(v) == largest {
				p[i] = 1
			}
		} else {
			p[i] = math.Exp((float64(v) - largest) / temperature)
		}
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Log returns the natural logarithm of x. math.Log reads a number below 2^-1022 as if it weren't subnormal on some
// processors (Go 1.26 on amd64: -709.1 for the smallest one, whose logarithm is -744.4), and deltas and rates may be
// that small.
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}

// ProductUp returns x·y, rounded up, for non-negative x and y.
func ProductUp(x, y float64) float64 {
	p := x * y
	inexact := p < 0x1p-960 && x > 0 && y > 0 // where the fused product's rounding doesn't show the error
	if inexact || math.FMA(x, y, -p) > 0 {
		return math.Nextafter(p, math.Inf(1))
	}
	return p
}
