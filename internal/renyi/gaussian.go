package renyi

import "math"

// Gaussian returns the curve of the Gaussian mechanism with noise multiplier s, a/(2 s^2), up to order high.
func Gaussian(noise float64, high int) Curve {
	c := NewCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = roundedUp(float64(a) / 2 / noise / noise)
	}
	return c
}

// SampledGaussian returns the exact curve of one DP-SGD step with sampling rate g and noise multiplier s, up to order
// high:
//
//	log(1 + sum_{k=2..a} C(a,k) (1-g)^{a-k} g^k (e^{k(k-1)/(2 s^2)} - 1)) / (a-1)
//
// (Mironov, Talwar and Zhang, "Rényi differential privacy of the sampled Gaussian mechanism", 2019).
func SampledGaussian(rate, noise float64, high int) Curve {
	switch rate {
	case 0:
		return NewCurve(high)
	case 1:
		return Gaussian(noise, high)
	}
	x := make([]float64, high+1)
	for k := range x {
		x[k] = roundedUp(float64(k) * float64(k-1) / 2 / noise / noise)
	}
	x[0], x[1] = 0, 0
	return mixtureCurve(newBinomialMixture(rate, x, nil), high)
}

// mixtureDivergence returns log(1 + e^logSum)/(a-1), rounded up, and 0 for a sum of 0.
func mixtureDivergence(logSum float64, a int) float64 {
	if math.IsInf(logSum, -1) {
		return 0
	}
	return roundedUp(log1pExp(logSum) / float64(a-1))
}

// mixtureCurve returns log(1 + sum)/(a-1) at every order a, for the sums of a mixture.
func mixtureCurve(m binomialMixture, high int) Curve {
	c := NewCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = mixtureDivergence(m.logSum(a), a)
	}
	return c
}
