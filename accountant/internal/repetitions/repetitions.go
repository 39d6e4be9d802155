package repetitions

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// A Distribution is the distribution of K, with the functions that the search for the worst order of scores calls.
type Distribution interface {
	// None returns P(K = 0).
	None() float64
	// LogSlope returns log phi1(1-w) for w >= 0, also for w a little above 1.
	LogSlope(w float64) float64
	// Growth returns phi2/phi1 at 1-w. It falls with w, except that it rises if K is binomial.
	Growth(w float64) float64
	// Curvature returns phi1 phi3/phi2^2, which is the same at every z.
	Curvature() float64
	// Span returns phi(1-w) - phi(1-w-mass) over phi1(1-w).
	Span(w, mass float64) float64
	// Fall returns the w with LogSlope(w) = LogSlope(0) - x.
	Fall(x float64) float64

	// logFall returns LogSlope(w) - LogSlope(0), rounded before LogSlope adds it.
	logFall(w float64) float64
}

// Poisson is K ~ Poisson(Mean), Mean > 0.
type Poisson struct {
	Mean float64
}

// TruncatedPoisson is K ~ Poisson(Rate) given K >= 1, Rate > 0.
type TruncatedPoisson struct {
	Rate float64
}

// NegativeBinomial is the truncated negative binomial distribution with Shape eta > -1 and Success gamma in (0, 1]: for
// k >= 1, P(K = k) is proportional to (1-gamma)^k times the product over l < k of (l+eta)/(l+1), and to (1-gamma)^k/k
// for eta 0.
type NegativeBinomial struct {
	Shape   float64 // eta
	Success float64 // gamma
}

// Binomial is K ~ Binomial(Trials, Probability), Trials >= 1 and 0 < Probability <= 1, with phi(z) = b^Trials, b = 1 -
// Probability + Probability z. At z below 0, where K doesn't define phi(z), its functions use b+ = max(b, 0) for b. So
// for 3 Trials or more phi1, phi2 and phi3 are at least 0 and don't fall on [-1, 1]. For 2 Trials phi3 has a mass at b
// = 0, so the functions hold only at z >= 0.
type Binomial struct {
	Trials      int
	Probability float64
}

// Once reports whether K is 1.
func Once(k Distribution) bool {
	switch k := k.(type) {
	case NegativeBinomial:
		return k.Success == 1
	case Binomial:
		return k.Trials == 1 && k.Probability == 1
	}
	return false
}

// Steepens reports whether phi2/phi1 is a constant times a power of phi1 that is at least 0, as
// docs/proofs/one-order.md needs. For a binomial K the power is -1/(Trials-1).
func Steepens(k Distribution) bool {
	if r, ok := k.(ready); ok {
		k = r.Distribution
	}
	_, binomial := k.(Binomial)
	return !binomial
}

// Expected returns Mean.
func (p Poisson) Expected() float64 { return p.Mean }

// Expected returns Rate/(1 - e^-Rate).
func (p TruncatedPoisson) Expected() float64 { return p.Rate / -math.Expm1(-p.Rate) }

// Expected returns eta (1-gamma)/(gamma (1-gamma^eta)), or its limit where eta is 0 or gamma is 1.
func (d NegativeBinomial) Expected() float64 {
	if d.Success == 1 {
		return 1
	}
	if d.Success > 0.3 {
		return (1 - d.Success) / d.Success * d.perTrial() * math.Exp(math.Max(0, -d.Shape)*float.Log(d.Success))
	}
	return math.Exp(d.LogExpected())
}

// perTrial returns |eta|/(1-gamma^|eta|), or its limit where eta is 0, for gamma below 1.
func (d NegativeBinomial) perTrial() float64 {
	logInverse := -float.Log(d.Success)
	eta := math.Abs(d.Shape)
	if x := eta * logInverse; x > 1e-17 { // below, the two are the same number
		return eta / -math.Expm1(-x)
	}
	return 1 / logInverse
}

// LogExpected returns the logarithm l of the mean, with an error of at most 2^-53 (70 + 5 l). For small gamma it avoids
// powers of gamma, which magnify the rounding of their exponents, and overflow.
func (d NegativeBinomial) LogExpected() float64 {
	if d.Success > 0.3 {
		return float.Log(d.Expected())
	}
	// Where eta is negative, eta/(1-gamma^eta) is |eta|/(1-gamma^|eta|) times gamma^|eta|.
	power := math.Min(1, 1+d.Shape)
	return math.Log1p(-d.Success) - power*float.Log(d.Success) + float.Log(d.perTrial())
}

func (p Poisson) None() float64        { return math.Exp(-p.Mean) }
func (TruncatedPoisson) None() float64 { return 0 }
func (NegativeBinomial) None() float64 { return 0 }

func (p Poisson) LogSlope(w float64) float64 { return float.Log(p.Mean) + p.logFall(w) }
func (p Poisson) logFall(w float64) float64  { return float64(-p.Mean * w) }
func (p Poisson) Growth(float64) float64     { return p.Mean }
func (p Poisson) Curvature() float64         { return 1 }
func (p Poisson) Span(_, mass float64) float64 {
	return poissonSpan(p.Mean, mass)
}
func (p Poisson) Fall(x float64) float64 { return x / p.Mean }

func (p TruncatedPoisson) LogSlope(w float64) float64 { return float.Log(p.Expected()) + p.logFall(w) }
func (p TruncatedPoisson) logFall(w float64) float64  { return float64(-p.Rate * w) }
func (p TruncatedPoisson) Growth(float64) float64     { return p.Rate }
func (p TruncatedPoisson) Curvature() float64         { return 1 }
func (p TruncatedPoisson) Span(_, mass float64) float64 {
	return poissonSpan(p.Rate, mass)
}
func (p TruncatedPoisson) Fall(x float64) float64 { return x / p.Rate }

func poissonSpan(rate, mass float64) float64 {
	if rate*mass < 1e-17 { // then (1 - e^{-rate mass})/rate is mass, and must not come from an underflow
		return mass
	}
	return -math.Expm1(-rate*mass) / rate
}

// LogSlope uses phi1(1-w) = E K (1 + w/odds)^-(1+eta).
func (d NegativeBinomial) LogSlope(w float64) float64 { return d.LogExpected() + d.logFall(w) }

func (d NegativeBinomial) logFall(w float64) float64 {
	return float64(-(1 + d.Shape) * math.Log1p(w/d.odds()))
}
func (d NegativeBinomial) Growth(w float64) float64 { return (1 + d.Shape) / (d.odds() + w) }
func (d NegativeBinomial) Curvature() float64       { return (2 + d.Shape) / (1 + d.Shape) }
func (d NegativeBinomial) Span(w, mass float64) float64 {
	if d.Success == 1 {
		return mass
	}
	x := d.odds() + w
	r := math.Log1p(mass / x)
	if math.Abs(d.Shape)*r < 1e-17 { // then (1 - e^{-eta r})/eta is r
		return x * r
	}
	return x * (-math.Expm1(-d.Shape*r) / d.Shape)
}
func (d NegativeBinomial) Fall(x float64) float64 {
	return math.Expm1(x/(1+d.Shape)) * d.odds()
}

// odds are gamma/(1-gamma).
func (d NegativeBinomial) odds() float64 { return d.Success / (1 - d.Success) }

// Expected returns Trials·Probability.
func (b Binomial) Expected() float64 { return float64(b.Trials) * b.Probability }

func (b Binomial) None() float64 { return math.Exp(float64(b.Trials) * math.Log1p(-b.Probability)) }

// LogSlope uses phi1(1-w) = E K (1 - Probability w)^(Trials-1).
func (b Binomial) LogSlope(w float64) float64 { return float.Log(b.Expected()) + b.logFall(w) }

func (b Binomial) logFall(w float64) float64 {
	x := b.Probability * w
	switch {
	case b.Trials == 1:
		return 0
	case x >= 1:
		return math.Inf(-1)
	}
	return float64(float64(b.Trials-1) * math.Log1p(-x))
}

func (b Binomial) Growth(w float64) float64 {
	left := 1 - b.Probability*w
	if b.Trials == 1 || left <= 0 {
		return 0
	}
	return float64(b.Trials-1) * b.Probability / left
}

func (b Binomial) Curvature() float64 {
	if b.Trials == 1 {
		return 0
	}
	return float64(b.Trials-2) / float64(b.Trials-1)
}

func (b Binomial) Span(w, mass float64) float64 {
	n, left := float64(b.Trials), 1-b.Probability*w
	if b.Trials == 1 {
		return mass
	}
	if left <= 0 {
		return 0
	}
	x := math.Min(1, b.Probability*mass/left)
	if n*x < 1e-17 { // then 1 - (1-x)^n is n x
		return mass
	}
	return left * (-math.Expm1(n*math.Log1p(-x)) / (n * b.Probability))
}

// Fall returns infinity for a single trial, whose LogSlope doesn't fall.
func (b Binomial) Fall(x float64) float64 {
	if b.Trials == 1 {
		return math.Inf(1)
	}
	return -math.Expm1(-x/float64(b.Trials-1)) / b.Probability
}

// WithMean returns the truncated negative binomial distribution of the given shape > -1 and mean >= 1. ok is false if
// no such distribution has a mean within a relative 1e-6 of the given one.
func WithMean(shape, mean float64) (d NegativeBinomial, ok bool) {
	d = NegativeBinomial{Shape: shape, Success: 1}
	// The mean falls from infinity to 1 as Success goes from 0 to 1: bisect its logarithm.
	low, high := -700.0, 0.0
	for high-low > 1e-15*math.Abs(low) {
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		d.Success = math.Exp(mid)
		if d.Expected() > mean {
			low = mid
		} else {
			high = mid
		}
	}
	d.Success = math.Exp(high)
	return d, !(math.Abs(d.Expected()-mean) > 1e-6*mean)
}
