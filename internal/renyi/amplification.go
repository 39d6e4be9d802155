package renyi

import "github.com/dptrain/dptrain/internal/float"

// Sampled returns the curve of a mechanism with curve c on a Poisson sample of the given rate (Zhu and Wang, Theorem
// [subsampling_R]). If tight is set, the result is at most c, since sampling never costs more than not sampling.
func Sampled(c Curve, rate float64, tight bool) Curve {
	if tight {
		return Minimum(amplified(c, rate), c)
	}
	return amplified(c, rate)
}

// amplified is the theorem alone. Its factor 3 from order 3 on becomes e^{log 3 + (j-1) c(j)}, which makes it a
// binomial mixture.
func amplified(c Curve, rate float64) Curve {
	switch rate {
	case 0:
		return NewCurve(c.high())
	case 1:
		return c // the printed formula would add log 3/(a-1)
	}
	x := make([]float64, len(c))
	for j := 2; j < len(c); j++ {
		x[j] = float64(j-1) * c[j] * (1 + ulp)
		if j > 2 {
			x[j] += float.Log(3)
		}
	}
	return mixtureCurve(newBinomialMixture(rate, x, nil), c.high())
}
