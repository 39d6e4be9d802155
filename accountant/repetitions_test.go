package accountant

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// allRepetitions returns one of every kind, including means below 1 and above the sampler's parts.
func allRepetitions(t *testing.T) []Repetitions {
	t.Helper()
	all := []Repetitions{Poisson{Mean: 0.4}, Poisson{Mean: 15}, Poisson{Mean: 45}, TruncatedPoisson{Rate: 0.1}, TruncatedPoisson{Rate: 20}}
	for _, shape := range []float64{-0.5, 0, 0.5, 1, 4} {
		k, err := NegativeBinomial(shape, 4)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	return append(all, TruncatedNegativeBinomial{Shape: 1, Success: 1}, Binomial{Trials: 1, Probability: 1},
		Binomial{Trials: 2, Probability: 0.3}, Binomial{Trials: 3, Probability: 0.999}, Binomial{Trials: 5, Probability: 1},
		Binomial{Trials: 30, Probability: 0.5}, Binomial{Trials: 3000, Probability: 0.002})
}

// probabilities returns P(K = 0), P(K = 1), ... by definition, until the rest is negligible.
func probabilities(r Repetitions) (all []float64) {
	var ratio func(k float64) float64 // P(K = k+1)/P(K = k)
	first, mass := 1, 1.0             // before normalisation
	switch r := r.(type) {
	case Poisson:
		first, mass, ratio = 0, math.Exp(-r.Mean), func(k float64) float64 { return r.Mean / (k + 1) }
	case TruncatedPoisson:
		ratio = func(k float64) float64 { return r.Rate / (k + 1) }
	case TruncatedNegativeBinomial:
		ratio = func(k float64) float64 { return (1 - r.Success) * (k + r.Shape) / (k + 1) }
	case Binomial:
		if first = 0; r.Probability == 1 {
			return append(make([]float64, r.Trials), 1)
		}
		mass = math.Pow(1-r.Probability, float64(r.Trials))
		ratio = func(k float64) float64 {
			return (float64(r.Trials) - k) / (k + 1) * r.Probability / (1 - r.Probability)
		}
	}
	total := 0.0
	all = make([]float64, first)
	for k := first; k < 100 || mass > 1e-18*total; k++ {
		total += mass
		all = append(all, mass)
		mass *= ratio(float64(k))
	}
	for k := range all {
		all[k] /= total
	}
	return all
}

func TestRepetitions(t *testing.T) {
	for _, r := range allRepetitions(t) {
		masses := probabilities(r)
		for _, z := range []float64{0, 0.3, 0.9, 1} {
			var slope, second, third, mean float64
			for k, p := range masses {
				x := float64(k)
				mean += x * p
				if k >= 1 {
					slope += p * x * math.Pow(z, x-1)
				}
				if k >= 2 {
					second += p * x * (x - 1) * math.Pow(z, x-2)
				}
				if k >= 3 {
					third += p * x * (x - 1) * (x - 2) * math.Pow(z, x-3)
				}
			}
			if math.Abs(mean/r.Expected()-1) > 1e-9 {
				t.Errorf("%#v: mean %v, want %v", r, r.Expected(), mean)
			}
			if got := math.Exp(r.law().LogSlope(1 - z)); math.Abs(got-slope) > 1e-8*slope {
				t.Errorf("%#v: phi1(%v) = %v, want %v", r, z, got, slope)
			}
			if repetitions.Once(r.law()) {
				continue // nothing asks for more
			}
			if got := math.Exp(r.law().LogSlope(1-z)) * r.law().Growth(1-z); math.Abs(got-second) > 1e-7*(second+slope) {
				t.Errorf("%#v: phi2(%v) = %v, want %v", r, z, got, second)
			}
			if got := slope * math.Pow(r.law().Growth(1-z), 2) * r.law().Curvature(); math.Abs(got-third) > 1e-6*(third+slope) {
				t.Errorf("%#v: phi3(%v) = %v, want %v", r, z, got, third)
			}
			for _, mass := range []float64{1e-9, 0.1, 0.7} {
				if b, ok := r.(Binomial); ok && 1-b.Probability+b.Probability*(z-mass) < 0 {
					continue // there the law goes on as 0
				}
				rise := 0.0
				for k, p := range masses {
					if x := z - mass; z == 1 { // where powers of small differences cancel least
						rise += p * -math.Expm1(float64(k)*math.Log1p(-mass))
					} else {
						rise += p * (math.Pow(z, float64(k)) - math.Pow(x, float64(k)))
					}
				}
				if got := slope * r.law().Span(1-z, mass); math.Abs(got-rise) > 1e-8*(rise+1e-7) {
					t.Errorf("%#v: phi(%v) less that %v before is %v, want %v", r, z, mass, got, rise)
				}
			}
			if x := r.law().LogSlope(0) - r.law().LogSlope(1-z); math.Abs(r.law().Fall(x)-(1-z)) > 1e-9 {
				t.Errorf("%#v: log phi1 falls by %v at %v, want %v", r, x, r.law().Fall(x), 1-z)
			}
		}
		if got := r.law().None(); math.Abs(got-masses[0]) > 1e-15 {
			t.Errorf("%#v: P(K=0) = %v, want %v", r, got, masses[0])
		}
	}
}

// TestDraw compares 100,000 draws with the distribution by a chi-square test whose classes hold at least 20 expected
// draws. The false-reject probability is below 1e-6 for each of the 17 distributions: the limit is the mean of the
// statistic plus seven standard deviations, which is beyond the 1-1e-6 quantile for 5 or more classes and generous
// below.
func TestDraw(t *testing.T) {
	const draws = 100000
	for i, r := range Every(2, allRepetitions(t)) {
		src := rand.NewPCG(1, uint64(i))
		count := map[int]float64{}
		for range draws {
			count[r.Draw(src)]++
		}
		var statistic, classes, seen, expected float64
		rest, restSeen := float64(draws), float64(draws)
		for k, p := range probabilities(r) {
			expected += draws * p
			seen += count[k]
			if expected >= 20 && rest-expected >= 20 {
				statistic += (seen - expected) * (seen - expected) / expected
				classes++
				rest -= expected
				restSeen -= seen
				expected, seen = 0, 0
			}
		}
		if rest >= 20 {
			statistic += (restSeen - rest) * (restSeen - rest) / rest
		}
		if limit := classes + 7*math.Sqrt(2*classes) + 10; statistic > limit || (classes == 0 && count[int(r.Expected())] != draws) {
			t.Errorf("%#v: statistic %v of %v classes, above %v", r, statistic, classes, limit)
		}
	}
}

func TestMeanIsMet(t *testing.T) {
	for _, shape := range []float64{-0.9, -0.5, 0, 1e-9, 0.5, 1, 10} {
		for _, mean := range []float64{1, 1.001, 15, 1e4} {
			k, err := NegativeBinomial(shape, mean)
			if err != nil {
				t.Errorf("shape %v, mean %v: %v", shape, mean, err)
				continue
			}
			if math.Abs(k.Expected()/mean-1) > 1e-10 {
				t.Errorf("shape %v: mean %v, want %v", shape, k.Expected(), mean)
			}
		}
	}
	if k, err := Geometric(15); err != nil || math.Abs(k.Success-1.0/15) > 1e-15 {
		t.Errorf("geometric of mean 15: success %v, %v", k.Success, err)
	}
}

func TestTruncatedPoissonWithMean(t *testing.T) {
	// Rates are m + W(-m e^-m), W the main branch of Lambert's function, at the float64 m: mpmath with 60 digits.
	for _, c := range []struct{ mean, rate float64 }{
		{1.0000000001, 2.000000165414075320486475e-10},
		{1.001, 0.001999333777451888308965499},
		{1.1, 0.1937475579949906732494119},
		{2, 1.593624260040040092323042},
		{6, 5.984901226402594425236393},
		{15, 14.9999954114441376760171},
		{700, 700},
		{1e6, 1e6},
		{math.MaxFloat64, math.MaxFloat64},
	} {
		k, err := TruncatedPoissonWithMean(c.mean)
		if err != nil {
			t.Errorf("mean %v: %v", c.mean, err)
			continue
		}
		if math.Abs(k.Rate-c.rate) > 1e-15*c.mean { // the mean, read with that error, says no more
			t.Errorf("mean %v: rate %v, want %v", c.mean, k.Rate, c.rate)
		}
	}
	if k, err := TruncatedPoissonWithMean(math.Nextafter(1, 2)); err != nil || !(k.Rate > 0) {
		t.Errorf("the smallest mean: %+v, %v", k, err)
	}
	for _, mean := range []float64{1, 0.5, 0, -3, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if k, err := TruncatedPoissonWithMean(mean); !errors.Is(err, ErrInvalid) {
			t.Errorf("mean %v: %+v, %v, want ErrInvalid", mean, k, err)
		}
	}
}

// The mean at the ends of the range, where powers of gamma magnify roundings and overflow. Logarithms by mpmath with 60
// digits, at the float64 parameters.
func TestExpectedAtTheEnds(t *testing.T) {
	for _, c := range []struct{ shape, success, log float64 }{
		{-0.9999999, 5e-324, 0.00007434400714800672296914},
		{-0.9977165823970308, 6.349559013904726e-275, 1.43937825250797411627},
		{-0.5, 1e-300, 344.6946167685469072808},
		{-0.5, 0.3, 0.3456237542897329945886},
		{0, 1e-200, 454.3846687870131443442},
		{1e-20, 1e-200, 454.3846687870131443465},
		{-1e-20, 0.25, 0.7719780286898287089835},
		{0.002, 1e-300, 684.8501879869931211531},
		{-0.002, 1e-300, 683.468636931196693714},
		{1, 1e-15, 34.53877639491068518256},
		{3.5, 1e-308, 710.4489716106614387639},
		{1e300, 0.5, 690.7755278982137052579},
		{1, 0.9999999999, 1.000000082790371007368e-10},
		{-0.9, 0.9999999999999999, 5.551115123125781875252e-18},
		{700, 0.999, 0.3303211971472976443623},
	} {
		d := TruncatedNegativeBinomial{Shape: c.shape, Success: c.success}
		if got := repetitions.NegativeBinomial(d).LogExpected(); !(math.Abs(got-c.log) <= 0x1p-53*(70+5*c.log)) {
			t.Errorf("%+v: log mean %v, want %v", d, got, c.log)
		}
		if got, want := d.Expected(), math.Exp(c.log); want < 1e300 && !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%+v: mean %v, want %v", d, got, want)
		}
		if at1 := d.law().LogSlope(0); math.Abs(at1-c.log) > 1e-12*(1+c.log) {
			t.Errorf("%+v: the slope at 1 is e^%v, want the mean, e^%v", d, at1, c.log)
		}
	}
}

// Papernot and Steinke's Theorem 2 for Gaussian trials, by mpmath with 60 digits at the float64 parameters, over the
// same orders: the curve must not be below it, and not far above.
func TestNegativeBinomialAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		noise, shape, success float64
		order                 int
		want                  float64
	}{
		{30.483003902359805, -0.9977165823970308, 6.349559013904726e-275, 2, 1.446399246663244722587},
		{30.483003902359805, -0.9977165823970308, 6.349559013904726e-275, 100, 0.07429293498409660000071},
		{5, 0.002, 1e-300, 2, 692.3188626050254336943},
		{5, -0.9999999, 5e-324, 3, 0.06003794172381811706513},
	} {
		e := SelectBest{Event: Gaussian{NoiseMultiplier: c.noise}, Repetitions: TruncatedNegativeBinomial{Shape: c.shape, Success: c.success}}
		curve, err := RDP(e, Options{Mode: Paper})
		if err != nil {
			t.Fatal(err)
		}
		if got := curve[c.order]; !(got >= c.want && got <= c.want*(1+1e-9)) {
			t.Errorf("%+v, order %d: %v, want %v", e, c.order, got, c.want)
		}
	}
}
