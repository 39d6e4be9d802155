package accountant_test

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// TestNegativeShapesRiseWithSteps has a plan whose bounds were 4.36, 4.70, 4.85 and 4.60 at one to four steps: cells
// were cut by the fall of phi1, while the allowances need phi3. Attained is within 1e-3 below these values.
func TestNegativeShapesRiseWithSteps(t *testing.T) {
	k, err := accountant.NegativeBinomial(-0.489, 28.6)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3.8301, 4.1993, 4.4230, 4.5896} {
		e := accountant.Baseline(k, accountant.DPSGD(0.01973, 0.5314, i+1))
		if got := mustEpsilon(t, e, 1.44e-4, accountant.Best); math.Abs(got-want) > 1e-3*want {
			t.Errorf("%d steps: %v, want %v", i+1, got, want)
		}
	}
}

// TestMoreStepsCostMore checks that no tuning run has a lower bound with more steps, except for the bound's errors.
func TestMoreStepsCostMore(t *testing.T) {
	long.Check(t, 3, func(t *rapid.T) {
		shape, mean := rapid.Float64Range(-0.95, 2).Draw(t, "shape"), math.Exp(rapid.Float64Range(0.1, 5).Draw(t, "log mean"))
		k, err := accountant.NegativeBinomial(shape, mean)
		if err != nil {
			t.Skip(err)
		}
		rate, noise := math.Exp(rapid.Float64Range(-5, -2).Draw(t, "log rate")), rapid.Float64Range(0.5, 3).Draw(t, "noise")
		delta := math.Exp(rapid.Float64Range(-14, -5).Draw(t, "log delta"))
		steps := rapid.IntRange(1, 5).Draw(t, "steps")
		fewer := mustEpsilon(t, accountant.Baseline(k, accountant.DPSGD(rate, noise, steps)), delta, accountant.Best)
		more := mustEpsilon(t, accountant.Baseline(k, accountant.DPSGD(rate, noise, steps+1)), delta, accountant.Best)
		if more < fewer*(1-2e-3) {
			t.Fatalf("shape %v, mean %v, rate %v, noise %v, delta %v: %v for %d steps, %v for one more", shape, mean, rate, noise, delta, fewer, steps, more)
		}
	})
}

// TestAttainedIsNeverAboveBest draws plans of all kinds, with extreme means and deltas.
func TestAttainedIsNeverAboveBest(t *testing.T) {
	long.Check(t, 3, func(t *rapid.T) {
		mean := math.Exp(rapid.Float64Range(0.1, 14).Draw(t, "log mean"))
		var k accountant.Repetitions = accountant.Poisson{Mean: mean}
		if rapid.Bool().Draw(t, "negative binomial") {
			n, err := accountant.NegativeBinomial(rapid.Float64Range(-0.95, 2).Draw(t, "shape"), mean)
			if err != nil {
				t.Skip(err)
			}
			k = n
		}
		rate, noise := math.Exp(rapid.Float64Range(-7, -1).Draw(t, "log rate")), rapid.Float64Range(0.5, 5).Draw(t, "noise")
		run := accountant.DPSGD(rate, noise, rapid.IntRange(1, 300).Draw(t, "steps"))
		delta := math.Exp(rapid.Float64Range(-60, -3).Draw(t, "log delta"))
		e := []accountant.Event{
			run, accountant.Baseline(k, run), accountant.Variant1(0.1, k, run),
			accountant.Variant2(0.1, k, accountant.Composed{Events: []accountant.Event{run, run}}),
		}[rapid.IntRange(0, 3).Draw(t, "kind")]
		got, err := accountant.Attained(e, delta)
		if err != nil {
			t.Skip(err)
		}
		if best := mustEpsilon(t, e, delta, accountant.Best); !(got <= best) {
			t.Fatalf("%s at %v: attained %v, best %v", text(e), delta, got, best)
		}
	})
}
