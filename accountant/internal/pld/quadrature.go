package pld

import "math"

// The seven-point Gauss-Legendre rule on [-1, 1].
var (
	gaussNodes = [7]float64{
		-0.9491079123427585245261897, -0.7415311855993944398638648, -0.4058451513773971669066064, 0,
		0.4058451513773971669066064, 0.7415311855993944398638648, 0.9491079123427585245261897,
	}
	gaussWeights = [7]float64{
		0.1294849661688696932706114, 0.2797053914892766679014678, 0.3818300505051189449503698, 0.4179591836734693877551020,
		0.3818300505051189449503698, 0.2797053914892766679014678, 0.1294849661688696932706114,
	}
)

// cellIntegrals returns e^logScale times the integrals over [begin, end], a <= begin and end <= b, of
//
//	phi(t) (e^{(t-a)/noise} - 1)   and   phi(t) (1 - e^{(t-b)/noise})
//
// for the standard normal density phi, to a relative 1e-13 and the rounding of the exponent.
//
// Proof. Cut [begin, end] into parts of centre c and half-width r with r D <= 1/8, D = max(1, |c|+1, 1/noise). The
// integrands are entire. The ellipse with foci c-r and c+r and half-axes of sum 25 r reaches no further from c than s =
// 12.6 r <= 1.6/D. In it |phi| is at most phi(c) e^{|c| s + s²/2} <= e^1.6 phi(c), while on the part phi is at least
// e^{-1/8} phi(c). The other factor of the first integrand is there at most e^{(d+s)/noise} - 1 <= (1 + s/d)
// e^{s/noise} (e^{d/noise} - 1), d >= r the distance of c from a: at most 13.6 e^1.6 times its value at c, which by
// convexity is no more than its mean over the part. For the second integrand and d the distance from b the same holds
// with another factor e where d <= noise, because 1 - e^{-d/noise} >= e^-1 (e^{d/noise} - 1), and beyond that the ratio
// is at most (1 + e^1.6)/(1 - e^-1); it is concave, so that its mean is at least half its value at c. Together, the
// integrand in the ellipse is at most M = 2 e · 13.6 · e^{3.2+1/8} < 2100 times its mean over the part, and the error
// of the rule with n points is at most (32/15) M rho^{-2(n-1)}/(1 - rho^-2) of the integral (Trefethen, Approximation
// theory and approximation practice, Theorem 19.3), with rho = 25 and n = 7 below 8e-14.
func cellIntegrals(a, begin, end, b, noise, logScale float64) (up, down float64) {
	if !(end > begin) {
		return 0, 0
	}
	d := math.Max(math.Max(math.Abs(begin), math.Abs(end))+1, 1/noise)
	parts := math.Ceil(4 * d * (end - begin))
	r := (end - begin) / parts / 2
	for k := range int(parts) {
		part := float64(2*k) * r // where the part begins, from begin
		for j, node := range gaussNodes {
			// From begin, since a may be so far out that distances from it lose digits to rounding.
			in := part + r*(1+node)
			s, back := (begin-a)+in, (b-begin)-in
			t := begin + in
			w := gaussWeights[j] * math.Exp(logScale-t*t/2)
			up += w * math.Expm1(s/noise)
			down -= w * math.Expm1(-back/noise)
		}
	}
	scale := r / math.Sqrt(2*math.Pi)
	return up * scale, down * scale
}
