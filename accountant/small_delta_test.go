package accountant_test

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// normalAbove is the upper tail of the standard normal distribution.
func normalAbove(t float64) float64 { return math.Erfc(t/math.Sqrt2) / 2 }

// oneStep is the divergence at any real epsilon of P = (1-g) N(0,s^2) + g N(1,s^2) from Q = N(0,s^2): with y the
// output, in standard deviations, at which p = e^epsilon q, it is P(above y) - e^epsilon Q(above y).
func oneStep(g, s, epsilon float64) float64 {
	x := (math.Expm1(epsilon) + g) / g // e^loss of the Gaussians at y
	if x <= 0 {
		return -math.Expm1(epsilon)
	}
	y := s*math.Log(x) + 0.5/s
	return g * (normalAbove(y-1/s) - x*normalAbove(y))
}

// twoSteps integrates the second step's divergence over the first one's output under P, by an even sum. It is good to a
// relative 1e-7: the divergence bends sharply, though smoothly, where the first loss alone makes up for epsilon.
func twoSteps(g, s, epsilon float64) float64 {
	const width = 1. / 1024
	sum := 0.0
	for k := -14 / width; k <= (14+1/s)/width; k++ {
		y := k * width
		loss := math.Log1p(g * math.Expm1(y/s-0.5/s/s))
		sum += math.Exp(-y*y/2+loss) * oneStep(g, s, epsilon-loss)
	}
	return sum * width / math.Sqrt(2*math.Pi)
}

// TestSampleOfTwoSteps compares a sample of two sampled steps with the truth, in two forms that are composed on
// different grids: neither is below the truth, nor above it by more than grids and transforms explain (notBelow). At
// the first delta the transform's error exceeds delta itself in one form and not in the other. The truth is the
// divergence for removal: the reverse one is 0, since epsilon is at least -log(1-q + q (1-g)^2) here.
func TestSampleOfTwoSteps(t *testing.T) {
	const q = 0.0625
	for _, c := range []struct{ rate, noise, epsilon float64 }{{1e-4, 1, 0.0034}, {1e-2, 2, 0.02}} {
		// A sample has q times the divergence at another epsilon.
		delta := q * twoSteps(c.rate, c.noise, math.Log1p(math.Expm1(c.epsilon)/q))
		step := sampled(c.rate, accountant.Gaussian{NoiseMultiplier: c.noise})
		simple, formed := sampled(q, times(2, step)), sampled(q, times(2, maxOver(step)))
		a, b := mustEpsilon(t, simple, delta, accountant.Best), mustEpsilon(t, formed, delta, accountant.Best)
		t.Logf("delta %v: epsilon %v, and %v and %v by bounds", delta, c.epsilon, a, b)
		for _, bound := range []float64{a, b} {
			if bound < c.epsilon*(1-1e-6) {
				t.Errorf("%s: epsilon %v at delta %v, where it is %v", text(simple), bound, delta, c.epsilon)
			}
		}
		notBelow(t, text(simple), simple, delta, a, c.epsilon)
		notBelow(t, text(formed), formed, delta, b, c.epsilon)
		notBelow(t, text(simple)+" with a maximum over its step", simple, delta, a, b)
	}
}
