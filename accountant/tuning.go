package accountant

import "math"

// Papernot and Steinke, "Hyperparameter tuning with Rényi differential privacy", 2022. In what follows e is the curve of
// one trial and deltaHat(a) its delta at epsilonHat(a), the largest epsilon that their condition
// e^epsilonHat <= 1 + 1/(a-1) allows: equality is the best choice and can always be met.

// epsilonHat is log(1 + 1/(a-1)), rounded down.
func epsilonHat(a int) float64 { return math.Log1p(1/float64(a-1)) * (1 - 2*ulp) }

// deltaHat returns the delta of the curve at epsilonHat(a) for a = 2..high, at index a: the smallest over the orders, and
// in mode tight also the two-moment bound.
func (c Curve) deltaHat(o Orders, tight bool) []float64 {
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
		eps, logDelta := epsilonHat(a), math.Inf(1)
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

// twoMomentDelta bounds delta at log(1+k) by the first two moments of the likelihood ratio L under the second
// distribution: E (L - 1 - k)_+ = (E |L-1-k| - k)/2 <= (sqrt(E (L-1-k)^2) - k)/2, and E L = 1, E L^2 <= e^{r2}.
func twoMomentDelta(r2, k float64) float64 {
	v := math.Expm1(r2)
	if math.IsInf(v, 1) {
		return 1
	}
	return v / (2 * (math.Sqrt(v+k*k) + k)) // the difference without its cancellation
}

// tuned is Theorem [main_rdp_poisson] for a mean of at least 1, and poissonBelowOne's bound else.
func (p Poisson) tuned(e Curve, deltaHat func() []float64, _ Orders) Curve {
	if p.Mean < 1 {
		return poissonAnyMean(e, deltaHat(), p.Mean)
	}
	if p.Mean == 1 {
		return poissonTuned(e, deltaHat(), 1, 0)
	}
	return poissonTuned(e, deltaHat(), p.Mean, logMean(ln(p.Mean)))
}

// tuned is the same theorem with log(mu) replaced by the logarithm of the mean of K given K >= 1.
func (p TruncatedPoisson) tuned(e Curve, deltaHat func() []float64, _ Orders) Curve {
	return poissonTuned(e, deltaHat(), p.Rate, logMean(ln(p.Expected())))
}

func poissonTuned(e Curve, deltaHat []float64, mu, logMean float64) Curve {
	t := newCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		t[a] = (e[a] + mu*deltaHat[a] + logMean/float64(a-1)) * (1 + 4*ulp)
	}
	return t
}

// logMean rounds up the logarithm of a mean of at least 1, itself within 2^-53 (70 + 5 times itself).
func logMean(log float64) float64 { return math.Max(0, log)*(1+8*ulp) + 80*ulp }

// poissonAnyMean holds for every mu > 0: the printed theorem is false below 1, where it gives a mechanism that ignores
// its data a negative divergence, because it forgets the e^-mu that both sides put on K = 0.
func poissonAnyMean(e Curve, deltaHat []float64, mu float64) Curve {
	t := newCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		y := float64(a-1) * (e[a] + mu*deltaHat[a]) * (1 + 4*ulp)
		// log(e^-mu + mu e^y), whose weights sum to 1 + (e^-mu - 1 + mu).
		l := ln(mu) + y + ulp*(math.Abs(ln(mu))+y)
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

// expm1Excess returns e^-x - 1 + x for x > 0 without cancellation.
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

// tuned is their Theorem 2: the best of K runs costs e(a) + (1+eta) min over l >= 1 of
// ((1-1/l) e(l) + log(1/gamma)/l) + log(E K)/(a-1). Between integers the bracket is monotone along the chord of
// (l-1) e(l), so integer l lose nothing.
func (d TruncatedNegativeBinomial) tuned(e Curve, _ func() []float64, o Orders) Curve {
	logInverse := -ln(d.Success) * (1 + ulp)
	extra := logInverse // l = 1
	for l := o.Low; l <= min(o.High, e.high()); l++ {
		x := float64(l)
		extra = math.Min(extra, (1-1/x)*e[l]+logInverse/x)
	}
	log := 0.0
	if !alwaysOnce(d) {
		log = logMean(d.logExpected())
	}
	t := newCurve(e.high())
	for a := 2; a <= e.high(); a++ {
		t[a] = (e[a] + (1+d.Shape)*extra + log/float64(a-1)) * (1 + 8*ulp)
	}
	return t
}

func (p Poisson) theorem() string {
	if p.Mean < 1 {
		return "tuning with Poisson repetitions of mean below 1"
	}
	return "tuning with Poisson repetitions"
}
func (TruncatedPoisson) theorem() string { return "tuning with truncated Poisson repetitions" }
func (TruncatedNegativeBinomial) theorem() string {
	return "tuning with truncated negative binomial repetitions"
}
