package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// The theorems of this file are by Papernot and Steinke, "Hyperparameter tuning with Rényi differential privacy", 2022.
// In them e is the curve of one trial and deltaHat(a) its delta at [EpsilonHat].

// EpsilonHat returns log(1 + 1/(a-1)), rounded down: the largest epsilon that the theorems' condition e^epsilonHat <= 1
// + 1/(a-1) allows. Equality is the best choice and always possible.
func EpsilonHat(a int) float64 { return math.Log1p(1/float64(a-1)) * (1 - 2*ulp) }

// DeltaHat returns a slice whose element a, for a = 2..high, is the curve's delta at EpsilonHat(a). It is the smallest
// over the orders of o and, if tight is set, over the bound by two moments as well.
func (c Curve) DeltaHat(o Orders, tight bool) []float64 {
	hat := make([]float64, len(c))
	if c.zero() {
		return hat
	}
	intercept := make([]float64, o.High+1)
	for b := o.Low; b <= o.High; b++ {
		intercept[b] = logDeltaIntercept(b, c[b])
	}
	best := o.High
	for a := 2; a <= c.high(); a++ {
		eps, logDelta := EpsilonHat(a), math.Inf(1)
		// The smaller epsilon, the smaller the best order: orders above the last best one can't win any more.
		for b, last := o.Low, best; b <= last; b++ {
			if l := intercept[b] - float64(b-1)*eps; l < logDelta {
				logDelta, best = l, b
			}
		}
		hat[a] = atMostOne(logDelta + ulp*math.Abs(logDelta))
		if tight {
			hat[a] = math.Min(hat[a], roundedUp(twoMomentDelta(c[2], 1/float64(a-1))))
		}
	}
	return hat
}

// twoMomentDelta bounds delta at epsilon = log(1+k) by the divergence r2 at order 2, as (sqrt(e^{r2} - 1 + k^2) - k)/2.
//
// Proof. For L the likelihood ratio under the second distribution, E L = 1 and E L^2 <= e^{r2}, so that
// E (L-1-k)_+ = (E |L-1-k| - k)/2 <= (sqrt(E (L-1-k)^2) - k)/2.
func twoMomentDelta(r2, k float64) float64 {
	v := math.Expm1(r2)
	if math.IsInf(v, 1) {
		return 1
	}
	return v / (2 * (math.Sqrt(v+k*k) + k)) // the difference without its cancellation
}

// PoissonTuned returns the curve of the best of K ~ Poisson(mu) runs, of a mechanism with curve e and deltas deltaHat:
// Theorem [main_rdp_poisson], and for mu < 1, where the printed theorem is false, [PoissonAnyMean].
func PoissonTuned(e Curve, deltaHat []float64, mu float64) Curve {
	switch {
	case mu < 1:
		return PoissonAnyMean(e, deltaHat, mu)
	case mu == 1:
		return poissonTuned(e, deltaHat, 1, 0)
	}
	return poissonTuned(e, deltaHat, mu, logMean(float.Log(mu)))
}

// TruncatedPoissonTuned returns the curve of the best of K runs for K ~ Poisson(rate) given K >= 1. It is the curve of
// [PoissonTuned] with the mean of K in place of mu in the logarithm.
func TruncatedPoissonTuned(e Curve, deltaHat []float64, rate, mean float64) Curve {
	return poissonTuned(e, deltaHat, rate, logMean(float.Log(mean)))
}

func poissonTuned(e Curve, deltaHat []float64, mu, logMean float64) Curve {
	t := NewCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		t[a] = (e[a] + mu*deltaHat[a] + logMean/float64(a-1)) * (1 + 4*ulp)
	}
	return t
}

// logMean rounds up the logarithm of a mean of at least 1, given within 2^-53 (70 + 5 times itself).
func logMean(log float64) float64 { return math.Max(0, log)*(1+8*ulp) + 80*ulp }

// PoissonAnyMean returns the curve of the best of K ~ Poisson(mu) runs for any mu > 0: log(e^-mu + mu e^{(a-1)(e(a) +
// mu deltaHat(a))})/(a-1). The theorem as printed leaves out the term e^-mu of K = 0, and for mu < 1 gives a mechanism
// that ignores its data the negative divergence log(mu)/(a-1).
func PoissonAnyMean(e Curve, deltaHat []float64, mu float64) Curve {
	t := NewCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		y := float64(a-1) * (e[a] + mu*deltaHat[a]) * (1 + 4*ulp)
		// log(e^-mu + mu e^y), whose weights sum to 1 + (e^-mu - 1 + mu).
		l := float.Log(mu) + y + ulp*(math.Abs(float.Log(mu))+y)
		if y < 30 {
			l = math.Log1p((expm1Excess(mu) + mu*math.Expm1(y)) * (1 + 8*ulp))
		} else if !math.IsInf(y, 1) {
			l = logAdd(-mu, l)
		}
		if l > 0 || y > 0 {
			t[a] = roundedUp(l / float64(a-1))
		}
	}
	return t
}

// expm1Excess returns e^-x - 1 + x for x > 0, without cancellation.
func expm1Excess(x float64) float64 {
	if x > 0.5 {
		return math.Expm1(-x) + x
	}
	total, term := 0.0, x*x/2
	for k := 3.0; math.Abs(term) > 1e-18*total; k++ {
		total += term
		term *= -x / k
	}
	return total
}

// NegativeBinomialTuned returns the curve of the best of K runs, K truncated negative binomial with shape eta and
// success gamma, by Papernot and Steinke's Theorem 2:
//
//	e(a) + (1+eta) min over l >= 1 of ((1-1/l) e(l) + log(1/gamma)/l) + log(E K)/(a-1).
//
// The l are 1 and the orders of o. Integer l are enough: between integers the bracket is monotone along the chord of
// (l-1) e(l). logExpected is log E K, with an error of at most 2^-53 (70 + 5 log E K).
func NegativeBinomialTuned(e Curve, o Orders, eta, gamma, logExpected float64) Curve {
	logInverse := -float.Log(gamma) * (1 + ulp)
	extra := logInverse // l = 1
	for l := o.Low; l <= min(o.High, e.high()); l++ {
		x := float64(l)
		extra = math.Min(extra, (1-1/x)*e[l]+logInverse/x)
	}
	log := 0.0
	if gamma < 1 {
		log = logMean(logExpected)
	}
	t := NewCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		t[a] = (e[a] + (1+eta)*extra + log/float64(a-1)) * (1 + 8*ulp)
	}
	return t
}

// BinomialTuned returns the curve of the best of K ~ Binomial(n, p) runs: at each order a the smaller of two bounds.
//
// The composition of n runs, each of which takes place with probability p, releases more than their best. Runs that do
// and that don't take place have different outcomes, so one costs log(1-p + p e^{(a-1) e(a)})/(a-1).
//
// The other is by Papernot and Steinke's argument. The best outcome has the density s = phi1(F) times that of one run,
// phi1(z) = n p (1-p+pz)^{n-1}, where F and G are the distribution functions of one run with and without the sample.
// So e^{(a-1) t(a)} is at most (1-p)^n, of K = 0, plus e^{(a-1) e(a)} times the largest phi1(F)^a phi1(G)^{1-a}. With u
// = 1-F and v = 1-G, each guarantee (log x, delta) of one run says v <= x u + delta. The logarithm of the largest is
// log(n p) + (n-1) h, where h is the maximum over u of
//
//	a log(1-pu) - (a-1) log(1 - p min(1, xu + delta)).
//
// Where xu + delta < 1 its slope has the sign of (a-1) x - a (1-p delta) + p x u, which rises with u; beyond it falls.
// So the maximum is at u = 0 or at u = (1-delta)/x. The result is the minimum over x = b/(b-1), for the orders b of
// deltaHat.
func BinomialTuned(e Curve, deltaHat []float64, n int, p float64) Curve {
	t := NewCurve(e.high())
	trials := float64(n)
	mean := trials * p
	none := trials * math.Log1p(-p)
	excess := mean * mean / 2 // at least (1-p)^n - 1 + n p
	if mean > 0.5 {
		excess = math.Min(excess, (math.Expm1(none)+mean)*(1+16*ulp))
	}
	for a := 2; a <= e.high(); a++ {
		y := float64(a-1) * e[a] * (1 + 2*ulp)
		t[a] = roundedUp(trials * logMixed(p, y) / float64(a-1))
		if n > 1 { // with probability 1 the ratio may be infinite
			y += float64(n-1) * binomialRatio(deltaHat, a, p) * (1 + 4*ulp)
		}
		l := float.Log(mean) + y + 4*ulp*(math.Abs(float.Log(mean))+y)
		if y < 30 {
			l = math.Log1p((excess + mean*math.Expm1(y)) * (1 + 8*ulp))
		} else if !math.IsInf(y, 1) && p < 1 {
			l = logAdd(none, l)
		}
		t[a] = math.Min(t[a], roundedUp(l/float64(a-1)))
	}
	return t
}

// logMixed returns log(1-p + p e^y), rounded up.
func logMixed(p, y float64) float64 {
	if y < 30 {
		return math.Log1p(p*math.Expm1(y)*(1+4*ulp)) * (1 + 4*ulp)
	}
	log := math.Log(p + (1-p)*math.Exp(-y))
	return math.Max(0, y+log+4*ulp*(y-log+1))
}

// binomialRatio returns h of [BinomialTuned].
func binomialRatio(deltaHat []float64, a int, p float64) float64 {
	least := math.Inf(1)
	for b := 2; b < len(deltaHat); b++ {
		delta, x := math.Min(1, deltaHat[b]), float64(b)
		u := (1 - delta) * ((x - 1) / x) * (1 - 4*ulp)
		first := -float64(a-1) * math.Log1p(-p*delta)
		up, down := float64(a)*math.Log1p(-p*u), float64(a-1)*math.Log1p(-p)
		second := up - down + 4*ulp*(math.Abs(up)+math.Abs(down))
		least = math.Min(least, math.Max(first*(1+4*ulp), second))
	}
	return math.Max(0, least)
}
