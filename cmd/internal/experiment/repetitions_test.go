package experiment

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Whatever valid settings name has the mean that they name, and can be accounted for and drawn.
func TestRepetitionsHaveTheirMean(t *testing.T) {
	for _, name := range settings.Repetitions() {
		rapid.Check(t, func(rt *rapid.T) {
			mean := 1 + math.Exp(rapid.Float64Range(-30, 13).Draw(rt, "log mean"))
			if name == settings.Fixed {
				mean = math.Round(mean)
			}
			shape := rapid.Float64Range(-0.9, 20).Draw(rt, "shape")
			e := experiment(t, "privacy.repetitions="+name, "privacy.mean_repetitions="+text(mean), "privacy.repetitions_shape="+text(shape))
			r, err := repetitionsOf(e.Privacy)
			if err != nil {
				rt.Fatal(err)
			}
			if got := r.Expected(); math.Abs(got-mean) > 1e-6*mean {
				rt.Fatalf("%s of mean %v: %#v has mean %v", name, mean, r, got)
			}
			if err := accountant.Validate(accountant.Baseline(r, accountant.DPSGD(0.1, 1, 1))); err != nil {
				rt.Fatal(err)
			}
		})
	}
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// With equal means and one K at least, the kinds are told apart by the probability of exactly one trial.
func TestRepetitionsAreThoseNamed(t *testing.T) {
	// P(K = 1) at mean 2: 2e^-2; r/(e^r-1) at the root 1.5936 of r/(1-e^-r) = 2; 1/2; and for the shapes 0.5 and 0 the
	// mean times success^(1+shape), at the success 0.4100971 and 0.2846681 that give the mean, found by bisection.
	for name, want := range map[string]float64{
		"poisson":           0.2706706,
		"truncated-poisson": 0.4063757,
		"geometric":         0.5,
		"negative-binomial": 0.5252426,
		"logarithmic":       0.5693363,
		"binomial":          0.25, // one of four trials, which each take place with probability 1/2
		"fixed":             0,
	} {
		r, err := repetitionsOf(experiment(t, "privacy.repetitions="+name, "privacy.mean_repetitions=2").Privacy)
		if err != nil {
			t.Fatal(err)
		}
		got := math.NaN()
		switch r := r.(type) {
		case accountant.Poisson:
			got = r.Mean * math.Exp(-r.Mean)
		case accountant.TruncatedPoisson:
			got = r.Rate / math.Expm1(r.Rate)
		case accountant.TruncatedNegativeBinomial:
			got = 2 * math.Pow(r.Success, 1+r.Shape)
		case accountant.Binomial:
			got = r.Expected() * math.Pow(1-r.Probability, float64(r.Trials-1))
		case accountant.Fixed:
			got = map[int]float64{1: 1}[r.Trials]
		default:
			t.Errorf("%s: a %T", name, r)
		}
		if !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s: P(K = 1) is %v, want %v", name, got, want)
		}
	}
}

// The stated distribution is the one that trials are drawn from.
func TestPlansHoldTheDistribution(t *testing.T) {
	for _, name := range settings.Repetitions() {
		e := experiment(t, "privacy.repetitions="+name, "privacy.noise_multiplier=2")
		tuning, stated, err := planTuning(e, 1000)
		if err != nil {
			t.Fatal(err)
		}
		want, err := repetitionsOf(e.Privacy)
		if err != nil {
			t.Fatal(err)
		}
		if tuning.Repetitions != want || stated.Tuning.Repetitions != name || (stated.Tuning.Shape != nil) != (name == NegativeBinomial) {
			t.Errorf("%s: %#v, stated %+v", name, tuning.Repetitions, stated.Tuning)
		}
		checkStated(t, name, stated.Epsilon, tuning.Event(), e)
	}
}
