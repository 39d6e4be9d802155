package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Repetitions is the distribution of K, the number of trials of a tuning run. The set is closed: Poisson,
// TruncatedPoisson and TruncatedNegativeBinomial (of which geometric and logarithmic are special cases), as values: a
// pointer to one is refused.
type Repetitions interface {
	// Expected returns the mean of K.
	Expected() float64
	// Draw draws K. The caller keeps K secret: it is not covered by the guarantee.
	Draw(src rand.Source) int

	check() error
	// none returns P(K = 0).
	none() float64
	// logSlope returns log phi'(1-w) for phi(z) = E z^K and w >= 0, also a little above 1.
	logSlope(w float64) float64
	// growth returns phi”/phi' at 1-w, which falls with w, and curvature phi' phi”'/phi”^2, which is the same everywhere.
	growth(w float64) float64
	curvature() float64
	// span returns phi(1-w) - phi(1-w-mass) over phi'(1-w).
	span(w, mass float64) float64
	// fall inverts logSlope: there it is x less than at 0.
	fall(x float64) float64
	// tuned returns the RDP curve of the best of K runs of an event with curve e (see tuning.go).
	tuned(e Curve, deltaHat func() []float64, orders Orders) Curve
	theorem() string
}

// Poisson is the paper's K ~ Poisson(Mean), Mean > 0. K = 0 is possible: such a run releases a fixed answer.
type Poisson struct {
	Mean float64
}

// TruncatedPoisson is K ~ Poisson(Rate) given K >= 1, Rate > 0.
type TruncatedPoisson struct {
	Rate float64
}

// TruncatedNegativeBinomial is Papernot and Steinke's D(eta, gamma): for k >= 1, P(K = k) is proportional to
// (1-Success)^k times the product over l < k of (l+Shape)/(l+1), and to (1-Success)^k/k for Shape 0. Shape > -1 and
// 0 < Success <= 1. Shape 1 is the geometric distribution, Shape 0 the logarithmic one.
type TruncatedNegativeBinomial struct {
	Shape   float64 // eta
	Success float64 // gamma
}

// Geometric returns the geometric distribution on 1, 2, ... with the given mean, at least 1.
func Geometric(mean float64) (TruncatedNegativeBinomial, error) { return NegativeBinomial(1, mean) }

// Logarithmic returns the logarithmic distribution with the given mean, at least 1.
func Logarithmic(mean float64) (TruncatedNegativeBinomial, error) { return NegativeBinomial(0, mean) }

// NegativeBinomial returns the truncated negative binomial distribution of the given shape > -1 and mean >= 1.
func NegativeBinomial(shape, mean float64) (TruncatedNegativeBinomial, error) {
	d := TruncatedNegativeBinomial{Shape: shape, Success: 1}
	if err := d.check(); err != nil {
		return d, err
	}
	if !(mean >= 1) || math.IsInf(mean, 1) {
		return d, fmt.Errorf("%w mean %v of a truncated negative binomial: not a finite number >= 1", ErrInvalid, mean)
	}
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
	if e := d.Expected(); math.Abs(e-mean) > 1e-6*mean {
		return d, fmt.Errorf("%w mean %v of a truncated negative binomial of shape %v: out of reach", ErrInvalid, mean, shape)
	}
	return d, nil
}

// TruncatedPoissonWithMean returns the Poisson distribution given K >= 1 of the given mean, above 1.
func TruncatedPoissonWithMean(mean float64) (TruncatedPoisson, error) {
	if !(mean > 1) || math.IsInf(mean, 1) {
		return TruncatedPoisson{}, fmt.Errorf("%w mean %v of a truncated Poisson: not a finite number > 1", ErrInvalid, mean)
	}
	// The mean Rate/(1-e^-Rate) grows with the rate and lies between Rate and Rate+1, and above 1+Rate/2.
	low, high := mean-1, math.Min(mean, 2*(mean-1))
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return TruncatedPoisson{Rate: high}, nil
		}
		if (TruncatedPoisson{Rate: mid}).Expected() < mean {
			low = mid
		} else {
			high = mid
		}
	}
}

func (p Poisson) check() error {
	if !(p.Mean > 0) || math.IsInf(p.Mean, 1) {
		return fmt.Errorf("mean %v of Poisson is not a finite number > 0", p.Mean)
	}
	return nil
}

func (p TruncatedPoisson) check() error {
	if !(p.Rate > 0) || math.IsInf(p.Rate, 1) {
		return fmt.Errorf("rate %v of truncated Poisson is not a finite number > 0", p.Rate)
	}
	return nil
}

func (d TruncatedNegativeBinomial) check() error {
	if !(d.Shape > -1) || math.IsInf(d.Shape, 1) {
		return fmt.Errorf("%w shape %v of a truncated negative binomial: not a finite number > -1", ErrInvalid, d.Shape)
	}
	if !(d.Success > 0 && d.Success <= 1) {
		return fmt.Errorf("%w success %v of a truncated negative binomial: outside (0, 1]", ErrInvalid, d.Success)
	}
	return nil
}

// Expected returns Mean.
func (p Poisson) Expected() float64 { return p.Mean }

// Expected returns Rate/(1 - e^-Rate).
func (p TruncatedPoisson) Expected() float64 { return p.Rate / -math.Expm1(-p.Rate) }

// Expected returns eta (1-gamma)/(gamma (1-gamma^eta)), or its limit where eta is 0 or gamma is 1.
func (d TruncatedNegativeBinomial) Expected() float64 {
	if d.Success == 1 {
		return 1
	}
	if d.Success > 0.3 {
		return (1 - d.Success) / d.Success * d.perTrial() * math.Exp(math.Max(0, -d.Shape)*ln(d.Success))
	}
	return math.Exp(d.logExpected())
}

// perTrial returns |eta|/(1-gamma^|eta|), or its limit where eta is 0, for gamma below 1.
func (d TruncatedNegativeBinomial) perTrial() float64 {
	logInverse := -ln(d.Success)
	eta := math.Abs(d.Shape)
	if x := eta * logInverse; x > 1e-17 { // below, the two are the same number
		return eta / -math.Expm1(-x)
	}
	return 1 / logInverse
}

// logExpected returns the logarithm of the mean, within 2^-53 (70 + 5 times itself): for small gamma it isn't taken from
// powers of gamma, which magnify the rounding of their exponents, and overflow.
func (d TruncatedNegativeBinomial) logExpected() float64 {
	if d.Success > 0.3 {
		return ln(d.Expected())
	}
	// Where eta is negative, eta/(1-gamma^eta) is |eta|/(1-gamma^|eta|) times gamma^|eta|.
	power := math.Min(1, 1+d.Shape)
	return math.Log1p(-d.Success) - power*ln(d.Success) + ln(d.perTrial())
}
func (p Poisson) none() float64                 { return math.Exp(-p.Mean) }
func (TruncatedPoisson) none() float64          { return 0 }
func (TruncatedNegativeBinomial) none() float64 { return 0 }

func (p Poisson) logSlope(w float64) float64 { return ln(p.Mean) - p.Mean*w }
func (p Poisson) growth(float64) float64     { return p.Mean }
func (p Poisson) curvature() float64         { return 1 }
func (p Poisson) span(_, mass float64) float64 {
	return poissonSpan(p.Mean, mass)
}
func (p Poisson) fall(x float64) float64 { return x / p.Mean }

func (p TruncatedPoisson) logSlope(w float64) float64 { return ln(p.Expected()) - p.Rate*w }
func (p TruncatedPoisson) growth(float64) float64     { return p.Rate }
func (p TruncatedPoisson) curvature() float64         { return 1 }
func (p TruncatedPoisson) span(_, mass float64) float64 {
	return poissonSpan(p.Rate, mass)
}

func poissonSpan(rate, mass float64) float64 {
	if rate*mass < 1e-17 { // then (1 - e^{-rate mass})/rate is mass, and may not be taken from what underflows
		return mass
	}
	return -math.Expm1(-rate*mass) / rate
}
func (p TruncatedPoisson) fall(x float64) float64 { return x / p.Rate }

// phi'(1-w) = E K (1 + w/odds)^-(1+eta).
func (d TruncatedNegativeBinomial) logSlope(w float64) float64 {
	return d.logExpected() - (1+d.Shape)*math.Log1p(w/d.odds())
}
func (d TruncatedNegativeBinomial) growth(w float64) float64 { return (1 + d.Shape) / (d.odds() + w) }
func (d TruncatedNegativeBinomial) curvature() float64       { return (2 + d.Shape) / (1 + d.Shape) }
func (d TruncatedNegativeBinomial) span(w, mass float64) float64 {
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
func (d TruncatedNegativeBinomial) fall(x float64) float64 {
	return math.Expm1(x/(1+d.Shape)) * d.odds()
}

// odds are gamma/(1-gamma).
func (d TruncatedNegativeBinomial) odds() float64 { return d.Success / (1 - d.Success) }

// alwaysOnce reports whether K is 1.
func alwaysOnce(r Repetitions) bool {
	d, ok := r.(TruncatedNegativeBinomial)
	return ok && d.Success == 1
}
