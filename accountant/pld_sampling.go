package accountant

import "math"

// sampledPair dominates a Poisson-sampled mechanism that d dominates: P becomes (1-rate) Q + rate P (Zhu, Dong and Wang,
// 2022, Theorem 11), so every loss l becomes log(1 - rate + rate e^l) under the same Q.
func sampledPair(d *pair, rate float64) *pair {
	switch rate {
	case 0:
		return neutral(d.step)
	case 1:
		return d
	}
	lowest := sampledLoss(rate, d.loss(0))
	if d.qInf > 0 {
		lowest = math.Log1p(-rate)
	}
	highest := sampledLoss(rate, d.loss(len(d.p)-1))
	b := newBuilder(d.step, int(math.Floor(lowest/d.step)), int(math.Floor(highest/d.step))+1)
	for i, q := range d.q {
		b.put(sampledLoss(rate, d.loss(i)), q)
	}
	if d.qInf > 0 {
		b.put(math.Log1p(-rate), d.qInf)
	}
	b.pInf = rate * d.pInf
	return b.pair()
}

// composed dominates the adaptive composition of what d and e dominate.
func composed(d, e *pair) (*pair, error) {
	if len(d.p)*len(e.p) > mostWork {
		return nil, errTooFine
	}
	b := newBuilder(d.step, d.low+e.low, d.low+e.low+len(d.p)+len(e.p)-2)
	for i, p := range d.p {
		if p == 0 {
			continue
		}
		row := b.p[i : i+len(e.p)]
		for j, v := range e.p {
			row[j] += p * v
		}
	}
	for i, q := range d.q {
		if q == 0 {
			continue
		}
		row := b.q[i : i+len(e.q)]
		for j, v := range e.q {
			row[j] += q * v
		}
	}
	b.pInf = d.pInf + e.pInf - d.pInf*e.pInf
	b.qInf = d.qInf + e.qInf - d.qInf*e.qInf
	return b.pair(), nil
}
