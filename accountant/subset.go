package accountant

// subsetAdd and subsetRemove are the two directions of the bound for variant 1, Theorem [strategy1_rdp1], equations
// [RDP_Poisson3_2] and [RDP_Poisson4_2]: tune runs on a subset of rate q, base on the rest.

func subsetAdd(tune, base Curve, q float64) Curve {
	if c, edge := subsetEdge(tune, base, q); edge {
		return c
	}
	return mixtureCurve(newBinomialMixture(q, tune.moments(0), base.moments(0)), tune.high())
}

func subsetRemove(tune, base Curve, q float64) Curve {
	if c, edge := subsetEdge(tune, base, q); edge {
		return c
	}
	// Weights C(a-1, j) q^j (1-q)^{a-1-j}, exponents j tune(j+1) + (a-1-j) base(a-j).
	m := newBinomialMixture(q, tune.moments(1), base.moments(1))
	c := newCurve(tune.high())
	for a := 2; a <= tune.high(); a++ {
		c[a] = mixtureDivergence(m.logSum(a-1), a)
	}
	return c
}

func subsetEdge(tune, base Curve, q float64) (Curve, bool) {
	switch q {
	case 0:
		return base, true
	case 1:
		return tune, true
	}
	return nil, false
}

// subsetCurve is the larger of the two directions. In mode tight the remove direction is also bounded by sampling the
// tuning run and composing it with a base run on everything.
func subsetCurve(tune, base Curve, q float64, tight bool) Curve {
	remove := subsetRemove(tune, base, q)
	if tight {
		remove = minimum(remove, sum(minimum(amplified(tune, q), tune), base))
	}
	return maximum(subsetAdd(tune, base, q), remove)
}
