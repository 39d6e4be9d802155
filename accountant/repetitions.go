package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
)

// Repetitions is the distribution of K, the number of trials of a tuning run. The set is closed: Poisson,
// TruncatedPoisson, TruncatedNegativeBinomial, of which the geometric and the logarithmic distribution are special
// cases, Binomial and Fixed. Functions refuse a pointer to one of them.
type Repetitions interface {
	// Expected returns the mean of K.
	Expected() float64
	// Draw draws K. The caller keeps K secret: it is not covered by the guarantee.
	Draw(src rand.Source) int

	check() error
	// law returns the distribution for the numerics of random K: nil for Fixed.
	law() repetitions.Distribution
	// tuned returns the Rényi curve of the best of K runs of an event with curve e. It calls deltaHat, which takes
	// long, only if the theorem needs it.
	tuned(e renyi.Curve, deltaHat func() []float64, o renyi.Orders) renyi.Curve
	// theorem names the theorem behind tuned.
	theorem() string
}

// Poisson is the paper's K ~ Poisson(Mean), Mean > 0. K = 0 is possible, and then the tuning releases a fixed answer.
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

// Binomial is K ~ Binomial(Trials, Probability): each of Trials trials, from 1 to 2·10^6, takes place with Probability,
// in (0, 1]. K varies less than a Poisson K of the same mean, which is the limit of many trials. K = 0 is possible, as
// with [Poisson]. With Probability 1 K is as public as with [Fixed], but only the best outcome may be released, and
// only it is charged.
type Binomial struct {
	Trials      int
	Probability float64
}

// Fixed is K = Trials, from 1 to 10^6. It is public. Selection among a fixed number of trials has no cost of its own:
// it is charged as the composition of all trials. The best is a post-processing of them, and all outcomes may be
// released. For more than a few trials a random K costs far less.
type Fixed struct {
	Trials int
}

// maxFixed bounds Fixed.Trials, since a plan holds every trial. maxBinomial bounds Binomial.Trials.
const maxFixed, maxBinomial = 1e6, 2e6

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
	found, ok := repetitions.WithMean(shape, mean)
	if d = TruncatedNegativeBinomial(found); !ok {
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

// BinomialWithMean returns the binomial distribution of the given number of trials and mean, above 0 and at most the
// number of trials.
func BinomialWithMean(trials int, mean float64) (Binomial, error) {
	b := Binomial{Trials: trials, Probability: mean / float64(trials)}
	if !(mean > 0 && mean <= float64(trials)) {
		return b, fmt.Errorf("%w mean %v of a binomial of %d trials: not a number in (0, %d]", ErrInvalid, mean, trials, trials)
	}
	return b, b.check()
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

func (b Binomial) check() error {
	if b.Trials < 1 || b.Trials > maxBinomial {
		return fmt.Errorf("%w %d trials of a binomial: not from 1 to %v", ErrInvalid, b.Trials, maxBinomial)
	}
	if !(b.Probability > 0 && b.Probability <= 1) {
		return fmt.Errorf("%w probability %v of a binomial: outside (0, 1]", ErrInvalid, b.Probability)
	}
	return nil
}

func (f Fixed) check() error {
	if f.Trials < 1 || f.Trials > maxFixed {
		return fmt.Errorf("%d trials are not from 1 to %v", f.Trials, maxFixed)
	}
	return nil
}

// Expected returns Trials.
func (f Fixed) Expected() float64 { return float64(f.Trials) }

// Expected returns Mean.
func (p Poisson) Expected() float64 { return p.Mean }

// Expected returns Rate/(1 - e^-Rate).
func (p TruncatedPoisson) Expected() float64 { return repetitions.TruncatedPoisson(p).Expected() }

// Expected returns eta (1-gamma)/(gamma (1-gamma^eta)), or its limit where eta is 0 or gamma is 1.
func (d TruncatedNegativeBinomial) Expected() float64 {
	return repetitions.NegativeBinomial(d).Expected()
}

// Expected returns Trials·Probability.
func (b Binomial) Expected() float64 { return repetitions.Binomial(b).Expected() }

func (p Poisson) law() repetitions.Distribution          { return repetitions.Poisson(p) }
func (p TruncatedPoisson) law() repetitions.Distribution { return repetitions.TruncatedPoisson(p) }
func (d TruncatedNegativeBinomial) law() repetitions.Distribution {
	return repetitions.NegativeBinomial(d)
}
func (b Binomial) law() repetitions.Distribution { return repetitions.Binomial(b) }

func (Fixed) law() repetitions.Distribution { return nil }

func (f Fixed) tuned(e renyi.Curve, _ func() []float64, _ renyi.Orders) renyi.Curve {
	return e.Times(f.Trials)
}

func (p Poisson) tuned(e renyi.Curve, deltaHat func() []float64, _ renyi.Orders) renyi.Curve {
	return renyi.PoissonTuned(e, deltaHat(), p.Mean)
}

func (p TruncatedPoisson) tuned(e renyi.Curve, deltaHat func() []float64, _ renyi.Orders) renyi.Curve {
	return renyi.TruncatedPoissonTuned(e, deltaHat(), p.Rate, p.Expected())
}

func (d TruncatedNegativeBinomial) tuned(e renyi.Curve, _ func() []float64, o renyi.Orders) renyi.Curve {
	return renyi.NegativeBinomialTuned(e, o, d.Shape, d.Success, repetitions.NegativeBinomial(d).LogExpected())
}

func (b Binomial) tuned(e renyi.Curve, deltaHat func() []float64, _ renyi.Orders) renyi.Curve {
	return renyi.BinomialTuned(e, deltaHat(), b.Trials, b.Probability)
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
func (Binomial) theorem() string { return "tuning with binomial repetitions" }
func (Fixed) theorem() string    { return "composition of a fixed number of trials" }

// Missed returns the probability that K trials, which draw from a grid independently and with replacement, never draw a
// given one of its candidates: E (1-1/candidates)^K, for Poisson e^(-Mean/candidates). It includes the probability of K
// = 0, when nothing is drawn. It is NaN for an invalid distribution, and for less than one candidate.
func Missed(r Repetitions, candidates int) float64 {
	if checkRepetitions(r) != nil || candidates < 1 {
		return math.NaN()
	}
	if f, ok := r.(Fixed); ok {
		return math.Pow(1-1/float64(candidates), float64(f.Trials))
	}
	// For phi(z) = E z^K it is phi(1-w) = phi(0) + (phi(1-w) - phi(0)), two terms that don't cancel.
	w, k := 1/float64(candidates), r.law()
	return math.Min(1, k.None()+math.Exp(k.LogSlope(w))*k.Span(w, 1-w))
}
