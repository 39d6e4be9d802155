package pld

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
	"pgregory.net/rapid"
)

// The tests of this file compare every bound with the exact divergence of random small mechanisms, in both directions.
// They were seen to fail within a hundred draws when a theorem is weakened: without mu deltaHat, with the printed bound
// below mean 1, without the remove direction of variant 1, with T(u) = u or without K = 0 in the selection bound, with
// masses rounded to the nearest grid point below.

// exceeds allows for the rounding of the exact side.
func exceeds(t *rapid.T, what string, bound, exact float64) {
	t.Helper()
	if !(bound >= exact-1e-9*math.Abs(exact)-1e-12) {
		t.Fatalf("%s: bound %v is below the exact %v", what, bound, exact)
	}
}

func dominates(t *rapid.T, what string, bound Profile, exact discrete) {
	t.Helper()
	for e := -3.0; e <= 8; e += 0.0937 {
		exceeds(t, what+", remove", bound.Remove(e), exact.hockey(e))
		exceeds(t, what+", add", bound.Add(e), exact.reversed().hockey(e))
	}
}

// tuned is the Rényi curve of the best of K runs.
func tuned(k repetitions.Distribution, c renyi.Curve, deltaHat []float64, o renyi.Orders) renyi.Curve {
	switch k := k.(type) {
	case repetitions.Poisson:
		return renyi.PoissonTuned(c, deltaHat, k.Mean)
	case repetitions.TruncatedPoisson:
		return renyi.TruncatedPoissonTuned(c, deltaHat, k.Rate, k.Expected())
	case repetitions.NegativeBinomial:
		return renyi.NegativeBinomialTuned(c, o, k.Shape, k.Success, k.LogExpected())
	case repetitions.Binomial:
		return renyi.BinomialTuned(c, deltaHat, k.Trials, k.Probability)
	}
	panic("unknown repetitions")
}

func TestTuningBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, k := drawDiscrete(t, "trial"), drawRepetitions(t)
		o := renyi.Orders{Low: 2, High: 24}
		c := d.curve(o.High)
		exact := d.selected(k).curve(o.High)
		for _, tight := range []bool{false, true} {
			best := tuned(k, c, c.DeltaHat(o, tight), o)
			if tight {
				best = best.Convexified(o)
			}
			for a := 2; a <= o.High; a++ {
				exceeds(t, "rdp", best[a], exact[a])
			}
		}
		for a := 2; a <= o.High; a++ {
			delta := math.Max(d.hockey(renyi.EpsilonHat(a)), d.reversed().hockey(renyi.EpsilonHat(a)))
			exceeds(t, "deltaHat", c.DeltaHat(o, true)[a], delta)
		}
	})
}

func TestSelectedPairBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, k := drawDiscrete(t, "trial"), drawRepetitions(t)
		step := rapid.Float64Range(0.01, 0.2).Draw(t, "step")
		bound, err := bestOf(d.pair(step), k)
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "best of K", bound, d.selected(k))
	})
}

func TestSubsetBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tune, base := drawDiscrete(t, "tune"), drawDiscrete(t, "base")
		q := rapid.Float64Range(0.01, 0.99).Draw(t, "q")
		followers := make([]discrete, len(tune.p))
		n := len(base.p)
		for i := range followers {
			followers[i] = base.coarsened(rapid.IntRange(0, n-1).Draw(t, "merge"), rapid.IntRange(0, n-1).Draw(t, "into"))
		}
		exact := subsetOf(tune, followers, q)
		const high = 16
		add, remove := renyi.SubsetAdd(tune.curve(high), base.curve(high), q), renyi.SubsetRemove(tune.curve(high), base.curve(high), q)
		paper := renyi.Subset(tune.curve(high), base.curve(high), q, false)
		tight := renyi.Subset(tune.curve(high), base.curve(high), q, true)
		for a := 2; a <= high; a++ {
			exceeds(t, "with sample against without", add[a], exact.divergence(a))
			exceeds(t, "without sample against with", remove[a], exact.reversed().divergence(a))
			exceeds(t, "tight", tight[a], math.Max(exact.divergence(a), exact.reversed().divergence(a)))
			exceeds(t, "paper over tight", paper[a], tight[a])
		}
		const step = 0.05
		s := Subset{Tune: tune.pair(step), Base: base.pair(step), Rate: q}
		dominates(t, "variant 1", s, exact)
		onGrid, err := s.Pair()
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "variant 1 on the grid", onGrid, exact)
	})
}

func TestSamplingBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDiscrete(t, "mechanism")
		g := rapid.Float64Range(0, 1).Draw(t, "rate")
		exact := discrete{q: d.q}
		for i := range d.p {
			exact.p = append(exact.p, (1-g)*d.q[i]+g*d.p[i])
		}
		c, sampled := exact.curve(16), renyi.Sampled(d.curve(16), g, false)
		for a := 2; a <= 16; a++ {
			exceeds(t, "amplification", sampled[a], c[a])
		}
		bound, err := Sampled(d.pair(0.05), g)
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "sampled pair", bound, exact)
	})
}

func TestCompositionBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := drawDiscrete(t, "first"), drawDiscrete(t, "second")
		const step = 0.05
		both, err := Composed(d.pair(step), e.pair(step))
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "composed", both, d.product(e))
		cube, err := d.pair(step).Power(3)
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "power", cube, d.product(d).product(d))
		either, err := Maximum([]*Pair{d.pair(step), e.pair(step)})
		if err != nil {
			t.Fatal(err)
		}
		dominates(t, "maximum, first", either, d)
		dominates(t, "maximum, second", either, e)
	})
}
