package kernel

import "math"

// NoisyMean holds the constants of [Release]: the noise's standard deviation in units of the sum, how many coarse units
// there are in one, which is a power of two, and a coarse unit's part of the mean.
type NoisyMean struct {
	Deviation, Coarsen, Mean float64
}

// AdamStep holds the constants of a step of [Adam]: the learning rate over 1−β1ᵗ, β1, 1−β1, β2, 1−β2, 1/(1−β2ᵗ), and ε.
type AdamStep struct {
	Rate, Beta1, Rest1, Beta2, Rest2, Correction, Epsilon float64
}

// AddUnits computes total[i] += units[i], rounded to doubles.
func AddUnits(total []float64, units []int32) {
	checkLength("AddUnits", "units", len(units), len(total))
	active.addUnits(total, units)
}

func addUnitsPlain(total []float64, units []int32) {
	for i, n := range units {
		total[i] += float64(n)
	}
}

// Release computes mean[i] = round((sum[i] + round(mean[i]·Deviation))·Coarsen)·Mean in doubles, each operation rounded
// by itself; round goes to the nearest integer, ties to even.
func Release(mean, sum []float64, c *NoisyMean) {
	checkLength("Release", "sum", len(sum), len(mean))
	active.release(mean, sum, c)
}

func releasePlain(mean, sum []float64, c *NoisyMean) {
	for i, z := range mean {
		mean[i] = c.of(z, sum[i])
	}
}

// of is Release of one coordinate.
func (c *NoisyMean) of(z, sum float64) float64 {
	return math.RoundToEven((sum+math.RoundToEven(z*c.Deviation))*c.Coarsen) * c.Mean
}

// ReleaseUnits is Release of the sums units[i], and clears units.
func ReleaseUnits(mean []float64, units []int32, c *NoisyMean) {
	checkLength("ReleaseUnits", "units", len(units), len(mean))
	active.releaseUnits(mean, units, c)
}

func releaseUnitsPlain(mean []float64, units []int32, c *NoisyMean) {
	for i, n := range units {
		mean[i] = c.of(mean[i], float64(n))
		units[i] = 0
	}
}

// SGD computes params[i] −= rate·gradient[i] in doubles, each operation rounded by itself, and rounds the result.
func SGD(params []float32, gradient []float64, rate float64) {
	checkLength("SGD", "gradient", len(gradient), len(params))
	active.sgd(params, gradient, rate)
}

func sgdPlain(params []float32, gradient []float64, rate float64) {
	for i, g := range gradient {
		params[i] = float32(float64(params[i]) - float64(rate*g))
	}
}

// Adam moves moments and parameters by a gradient, in doubles, each operation rounded by itself:
//
//	m = Beta1·first[i] + Rest1·g         first[i] = m, rounded
//	v = Beta2·second[i] + (Rest2·g)·g    second[i] = v, rounded
//	params[i] −= (Rate·m) / (√(Correction·v) + Epsilon)
func Adam(params, first, second []float32, gradient []float64, c *AdamStep) {
	checkLength("Adam", "first", len(first), len(params))
	checkLength("Adam", "second", len(second), len(params))
	checkLength("Adam", "gradient", len(gradient), len(params))
	active.adam(params, first, second, gradient, c)
}

func adamPlain(params, first, second []float32, gradient []float64, c *AdamStep) {
	for i, g := range gradient {
		m := float64(c.Beta1*float64(first[i])) + float64(c.Rest1*g)
		v := float64(c.Beta2*float64(second[i])) + float64(float64(c.Rest2*g)*g)
		first[i], second[i] = float32(m), float32(v)
		params[i] = float32(float64(params[i]) - float64(c.Rate*m)/(math.Sqrt(c.Correction*v)+c.Epsilon))
	}
}
