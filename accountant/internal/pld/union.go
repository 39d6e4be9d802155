package pld

// Mixture returns a pair that dominates running one of several mechanisms. The i-th is drawn with probability
// weights[i], and pairs[i] dominates it. The weights are positive and add up to at least 1.
//
// Proof. The outcomes together with the draw are the disjoint union of the mechanisms' outcomes, so that its divergence
// is the sum of weights[i] times the i-th at every epsilon, and in both directions. R is linear in masses.
func Mixture(pairs []*Pair, weights []float64) (*Pair, error) {
	if len(pairs) == 1 {
		return pairs[0], nil
	}
	return onBoth(func(sides []*side) (*side, error) { return mixtureSide(sides, weights) }, pairs...)
}

func mixtureSide(sides []*side, weights []float64) (*side, error) {
	low, high := span(sides)
	b, err := newBuilder(sides[0].Grid, float64(low), float64(high))
	if err != nil {
		return nil, err
	}
	b.terms = 2 * len(sides)
	for k, s := range sides {
		into := b.mass[s.low-low:]
		for i, m := range s.mass {
			into[i] += weights[k] * m
		}
		b.inf += weights[k] * s.inf
	}
	return b.side()
}
