package pld

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// sampledLoss returns log(1 - rate + rate e^x), the privacy loss of a sampled mechanism whose own loss is x, within a
// few roundings of its value.
func sampledLoss(rate, x float64) float64 {
	if rate == 1 {
		return x
	}
	if x > 300 { // where e^x overflows, or soon will
		l := x + float.Log(rate)
		if l < 30 {
			return math.Log1p(math.Exp(l) - rate)
		}
		return l + math.Log1p((1-rate)*math.Exp(-l))
	}
	if y := rate * math.Expm1(x); y > -0.5 {
		return math.Log1p(y)
	}
	return float.Log((1 - rate) + rate*math.Exp(x))
}

// unsampledLoss inverts sampledLoss. It returns -Inf below the smallest loss that sampling allows.
func unsampledLoss(rate, l float64) float64 {
	x := math.Expm1(l) / rate
	switch {
	case rate == 1:
		return l
	case x <= -1:
		return math.Inf(-1)
	case l > 30:
		return l - float.Log(rate) + math.Log1p(-(1-rate)*math.Exp(-l))
	}
	return math.Log1p(x)
}

// Sampled returns a pair that dominates a mechanism on a Poisson sample of the given rate, if d dominates the mechanism
// on all data. With the sample the law is (1-rate) Q + rate P (Zhu, Dong and Wang, 2022, Theorem 11), so that every
// loss l of removal becomes log(1 - rate + rate e^l) under the same Q.
func Sampled(d *Pair, rate float64) (*Pair, error) {
	switch rate {
	case 0:
		return Neutral(d.removal.Grid), nil
	case 1:
		return d, nil
	}
	removal, err := sampledRemoval(d.removal, rate)
	if err != nil {
		return nil, err
	}
	addition, err := sampledAddition(d.addition, rate)
	if err != nil {
		return nil, err
	}
	return &Pair{removal, addition}, nil
}

// sampledRemoval bounds the expectation of (1-rate + rate L - e^epsilon)_+ under Q, with L = p/q.
func sampledRemoval(s *side, rate float64) (*side, error) {
	lowest := math.Log1p(-rate) // where L is 0
	b, err := builderBetween(s.Grid, lowest, sampledLoss(rate, s.loss(len(s.mass)-1)))
	if err != nil {
		return nil, err
	}
	b.terms = len(s.mass) + 1
	q := s.opposite()
	rest := cutToOne(q)
	for i, v := range q {
		if v > 0 {
			l := sampledLoss(rate, s.loss(i))
			b.put(l, sampledError(rate, s.loss(i)), v*math.Exp(l))
		}
	}
	b.put(lowest, 0, rest*(1-rate))
	b.inf = rate * s.inf
	return b.side()
}

// sampledAddition bounds the expectation of (1 - e^epsilon (1-rate + rate L))_+ under Q. Where L is 0 the new ratio is
// 1-rate.
func sampledAddition(s *side, rate float64) (*side, error) {
	n := len(s.mass)
	highest := -sampledLoss(rate, -s.loss(n-1))
	if s.inf > 0 {
		highest = -math.Log1p(-rate)
	}
	b, err := builderBetween(s.Grid, -sampledLoss(rate, -s.loss(0)), highest)
	if err != nil {
		return nil, err
	}
	b.terms = len(s.mass) + 1
	for i, q := range s.mass {
		if q > 0 {
			b.put(-sampledLoss(rate, -s.loss(i)), sampledError(rate, -s.loss(i)), q)
		}
	}
	if s.inf > 0 {
		b.put(highest, 0, s.inf)
	}
	return b.side()
}

// sampledError bounds the error of sampledLoss at a loss x of the grid, beyond the roundings that builder.put allows
// for. A rounding of x counts times the slope of the loss in x.
func sampledError(rate, x float64) float64 {
	return 0x1p-50 * math.Abs(x) * math.Min(1, rate*math.Exp(x-sampledLoss(rate, x)))
}

// builderBetween returns a builder for losses from lowest to highest and for both grid points around each.
func builderBetween(g Grid, lowest, highest float64) (*builder, error) {
	return newBuilder(g, math.Floor(lowest/g.step)-1, math.Floor(highest/g.step)+2)
}

// cutToOne cuts masses q, from the top down, to a sum of at most 1, and returns 1 minus their sum.
//
// Let a removal side have the masses p and q = p e^-l, and let f be convex, never fall and end with slope 1. Then the
// expectation of f(L) under Q, with P's mass at infinity, is at most the sum of q f(e^l) over the cut masses plus
// rest·f(0) and inf. For with a cut at a point k that sum is the bound for max(f, f(e^{l_k})) >= f.
func cutToOne(q []float64) (rest float64) {
	rest = 1
	for i := len(q) - 1; i >= 0; i-- {
		q[i] = math.Min(q[i], rest)
		rest -= q[i]
	}
	return rest
}
