package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// drawBinomial draws few trials often, and probabilities of 1 and close to it, where phi1 is 0 or nearly so at 0.
func drawBinomial(r *rand.Rand) repetitions.Binomial {
	k := repetitions.Binomial{Trials: 1 + int(math.Exp(4.6*r.Float64()*r.Float64())), Probability: r.Float64()}
	switch r.IntN(5) {
	case 0:
		k.Probability = 1
	case 1:
		k.Probability = 1 - math.Exp(-30*r.Float64())
	case 2:
		k.Probability = math.Exp(-6 * r.Float64())
	}
	if r.IntN(4) == 0 {
		k.Trials = 1 + r.IntN(4)
	}
	return k
}

// With one trial the outcome is a run's, with the trial's probability, and otherwise a fixed one: no order matters.
func TestOneTrialOfBinomial(t *testing.T) {
	d := oneGaussian(t, 2, 0.005)
	for _, p := range []float64{1e-3, 0.3, 0.5, 0.9, 1} {
		s := NewSelection(d, repetitions.Binomial{Trials: 1, Probability: p}, CellCountAlone)
		for _, epsilon := range []float64{0, 0.1, 0.5, 1, 2} {
			for _, x := range []struct{ got, run float64 }{{s.Remove(epsilon), d.Remove(epsilon)}, {s.Add(epsilon), d.Add(epsilon)}} {
				if want := p * x.run; x.got < want*(1-1e-9) || x.got > want*1.01 {
					t.Errorf("probability %v, epsilon %v: %v, want %v", p, epsilon, x.got, want)
				}
			}
		}
	}
}

// Many trials of small probability are close to Poisson. At the same mean fewer trials have a larger probability. The
// limit is a fixed number of trials, whose best costs less than all of them.
func TestLimitsOfBinomial(t *testing.T) {
	d := oneGaussian(t, 4, 0.005)
	const n = 5
	all, err := d.Power(n)
	if err != nil {
		t.Fatal(err)
	}
	at := func(k repetitions.Distribution, epsilon float64) float64 {
		return NewSelection(d, k, CellCountAlone).DeltaAt(epsilon)
	}
	for _, epsilon := range []float64{0.2, 0.5, 1} {
		many, poisson := at(repetitions.Binomial{Trials: 2e6, Probability: n / 2e6}, epsilon), at(repetitions.Poisson{Mean: n}, epsilon)
		if math.Abs(many/poisson-1) > 1e-4 {
			t.Errorf("epsilon %v: %v of many trials, %v of Poisson", epsilon, many, poisson)
		}
		if fixed := at(repetitions.Binomial{Trials: n, Probability: 1}, epsilon); fixed > all.DeltaAt(epsilon)*1.001 {
			t.Errorf("epsilon %v: the best of %d costs %v, all of them %v", epsilon, n, fixed, all.DeltaAt(epsilon))
		}
	}
}

func oneGaussian(t *testing.T, noise, step float64) *Pair {
	t.Helper()
	d, _, err := Rows(by(step), 1, noise, 1, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
