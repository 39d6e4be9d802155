package renyi

import "github.com/dptrain/dptrain/internal/float"

// SubsetAdd bounds the divergence of variant 1 with the sample from variant 1 without it, by equation [RDP_Poisson3_2]
// of Theorem [strategy1_rdp1]. tune runs on a subset of rate q, and base on the rest.
func SubsetAdd(tune, base Curve, q float64) Curve {
	if c, edge := subsetEdge(tune, base, q); edge {
		return c
	}
	return mixtureCurve(newBinomialMixture(q, tune.moments(0), base.moments(0)), tune.high())
}

// SubsetRemove bounds the divergence of variant 1 without the sample from variant 1 with it, by equation
// [RDP_Poisson4_2].
func SubsetRemove(tune, base Curve, q float64) Curve {
	if c, edge := subsetEdge(tune, base, q); edge {
		return c
	}
	// Weights C(a-1, j) q^j (1-q)^{a-1-j}, exponents j tune(j+1) + (a-1-j) base(a-j).
	m := newBinomialMixture(q, tune.moments(1), base.moments(1))
	c := NewCurve(tune.high())
	for a := 2; a <= tune.high(); a++ {
		c[a] = mixtureDivergence(m.logSum(a-1), a)
	}
	return c
}

// subsetEdge returns the curve of variant 1 at the rates 0 and 1, where a weight of the theorem has no logarithm.
func subsetEdge(tune, base Curve, q float64) (Curve, bool) {
	switch q {
	case 0:
		return base, true
	case 1:
		return tune, true
	}
	return nil, false
}

// Subset returns the curve of variant 1: the larger of SubsetAdd and SubsetRemove. If tight is set, the curve of
// variant 2, tune on a sample of rate q composed with base on all data, replaces SubsetRemove where it is smaller.
//
// Proof of the cap. With m = a-1 and w = (1-q)/(q x + 1-q), (1-w+w y)^-m <= 1-w+w y^-m, and E y = 1 gives E y^-m >= 1.
func Subset(tune, base Curve, q float64, tight bool) Curve {
	remove := SubsetRemove(tune, base, q)
	if tight {
		remove = Minimum(remove, Sum(Sampled(tune, q, true), base))
	}
	return Maximum(SubsetAdd(tune, base, q), remove)
}

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
