package accountant

// gaussianCurve is the RDP curve of the Gaussian mechanism, a/(2 s^2).
func gaussianCurve(noise float64, high int) Curve {
	c := newCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = float64(a) / (2 * noise * noise)
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
		x[k] = float64(k) * float64(k-1) / 2 / noise / noise
	}
	x[0], x[1] = 0, 0 // not 0/0 without noise
	return mixtureCurve(newBinomialMixture(rate, x, nil), high)
}

// mixtureCurve turns the sums of a mixture into RDP: log(1 + sum)/(a-1).
func mixtureCurve(m binomialMixture, high int) Curve {
	c := newCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = log1pExp(m.logSum(a)) / float64(a-1)
	}
	return c
}
