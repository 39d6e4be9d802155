package float

import "math"

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
