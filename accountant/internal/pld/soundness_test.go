package pld

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
	"pgregory.net/rapid"
)

// The tests of this file compare Rényi bounds with the exact divergence of random small mechanisms, in both directions;
// TestBoundsOfSingularMechanisms does so with pairs. They were seen to fail within a hundred draws when a theorem is
// weakened: without mu deltaHat, with the printed bound below mean 1, without the remove direction of variant 1, with
// T(u) = u or without K = 0 in the selection bound, with masses rounded to the nearest grid point below.

// exceeds allows for the rounding of the exact side.
func exceeds(t *rapid.T, what string, bound, exact float64) {
	t.Helper()
	if !(bound >= exact-1e-9*math.Abs(exact)-1e-12) {
		t.Fatalf("%s: bound %v is below the exact %v", what, bound, exact)
	}
}

func dominates(t *rapid.T, what string, bound Profile, exact law) {
	t.Helper()
	for e := -3.0; e <= 8; e += 0.0937 {
		exceeds(t, what+", remove", bound.Remove(e), hockey(exact.p, exact.q, e))
		exceeds(t, what+", add", bound.Add(e), hockey(exact.q, exact.p, e))
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
			delta := math.Max(hockey(d.p, d.q, renyi.EpsilonHat(a)), hockey(d.q, d.p, renyi.EpsilonHat(a)))
			exceeds(t, "deltaHat", c.DeltaHat(o, true)[a], delta)
		}
	})
}

func TestSubsetBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tune, base := drawDiscrete(t, "tune"), drawDiscrete(t, "base")
		q := rapid.Float64Range(0.01, 0.99).Draw(t, "q")
		exact := tune.subsetThen(q, base.merged(t, len(tune.p)))
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
	})
}

func TestSamplingBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDiscrete(t, "mechanism")
		g := rapid.Float64Range(0, 1).Draw(t, "rate")
		exact := d.sampled(g)
		c, sampled := exact.curve(16), renyi.Sampled(d.curve(16), g, false)
		for a := 2; a <= 16; a++ {
			exceeds(t, "amplification", sampled[a], c[a])
		}
	})
}
