package accountant

import "math"

// gaussianCurve is the RDP curve of the Gaussian mechanism, a/(2 s^2).
func gaussianCurve(noise float64, high int) Curve {
	c := newCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = roundedUp(float64(a) / 2 / noise / noise)
	}
	return c
}

// sampledGaussianCurve is the exact RDP curve of one Poisson-sampled Gaussian step at integer orders (Mironov, Talwar
// and Zhang, "Rényi differential privacy of the sampled Gaussian mechanism", 2019).
func sampledGaussianCurve(rate, noise float64, high int) Curve {
	switch rate {
	case 0:
		return newCurve(high)
	case 1:
		return gaussianCurve(noise, high)
	}
	x := make([]float64, high+1)
	for k := range x {
		x[k] = roundedUp(float64(k) * float64(k-1) / 2 / noise / noise)
	}
	x[0], x[1] = 0, 0
	return mixtureCurve(newBinomialMixture(rate, x, nil), high)
}

// mixtureDivergence is log(1 + e^logSum)/(a-1), rounded up; a sum of 0 has the divergence 0.
func mixtureDivergence(logSum float64, a int) float64 {
	if math.IsInf(logSum, -1) {
		return 0
	}
	return roundedUp(log1pExp(logSum) / float64(a-1))
}

// mixtureCurve turns the sums of a mixture into RDP: log(1 + sum)/(a-1).
func mixtureCurve(m binomialMixture, high int) Curve {
	c := newCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = mixtureDivergence(m.logSum(a), a)
	}
	return c
}
