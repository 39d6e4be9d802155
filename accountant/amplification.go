package accountant

// amplified bounds the curve of a Poisson-sampled mechanism with curve c (Zhu and Wang, Theorem [subsampling_R]).
// The factor 3 from order 3 on is exact in the form e^{log 3 + (j-1) c(j)}, which makes the bound a binomial mixture.
func amplified(c Curve, rate float64) Curve {
	switch rate {
	case 0:
		return newCurve(c.high())
	case 1:
		return c // the printed formula would add log 3/(a-1)
	}
	x := make([]float64, len(c))
	for j := 2; j < len(c); j++ {
		x[j] = float64(j-1) * c[j] * (1 + ulp)
		if j > 2 {
			x[j] += ln(3)
		}
	}
	return mixtureCurve(newBinomialMixture(rate, x, nil), c.high())
}
