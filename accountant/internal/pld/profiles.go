package pld

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A ByProfiles bounds the best of K runs of a mechanism by the mechanism's divergences alone, as Koskela, Redberg and
// Wang do in "Privacy profiles for private selection" (2024). It is never below a [Selection], and serves to compare
// with it. It is derived here; docs/bounds.md says what of the paper could be read.
//
// Given K >= 1 the best has the densities s1 = p phi1(F) and s0 = q phi1(G), as for an [ordering]. If phi1(F) <= M
// phi1(G) at every place of every order, then s1 - c s0 <= phi1(F) (p - c/M q), and as phi1 is largest at 1, where it
// is E K, the divergence at epsilon is at most E K times that of one run at epsilon - log M.
//
// M. For u = 1-F and v = 1-G every level x = e^epsilonHat >= 1 has v <= x u + add(epsilonHat) and 1-u <= x (1-v) +
// remove(epsilonHat), the divergences of one run, for the events of what comes after a place and before it. Where v is
// a linear function of u, phi1(1-u)/phi1(1-v) is a power, or the exponential function, of a function of u that is
// monotone. So the largest is found at u = 0 and where v changes from one linear function to another. M doesn't depend
// on epsilon, and the least over all x tried is taken.
type ByProfiles struct {
	run               *Pair
	logRemove         float64 // log M
	logAdd            float64
	expected, nothing float64 // E K and P(K=0)
}

// NewByProfiles bounds the best of K runs of a mechanism that d dominates.
func NewByProfiles(d *Pair, k repetitions.Distribution) *ByProfiles {
	b := &ByProfiles{run: d, logRemove: math.Inf(1), logAdd: math.Inf(1), expected: math.Exp(k.LogSlope(0)), nothing: k.None()}
	try := func(epsilonHat float64) {
		remove, add := math.Min(1, d.Remove(epsilonHat)), math.Min(1, d.Add(epsilonHat))
		b.logRemove = math.Min(b.logRemove, logRatio(k, epsilonHat, remove, add))
		b.logAdd = math.Min(b.logAdd, logRatio(k, epsilonHat, add, remove))
	}
	const least, most, steps = 1e-4, 50, 600
	try(0)
	for i := range steps + 1 {
		try(least * math.Pow(most/least, float64(i)/steps))
	}
	return b
}

// logRatio bounds log phi1(1-u) - log phi1(1-v) for v <= min(1, x u + after) and 1-u <= x (1-v) + before.
func logRatio(k repetitions.Distribution, epsilonHat, before, after float64) float64 {
	x := math.Exp(epsilonHat)
	low := func(u float64) float64 { return x*u + after }
	high := func(u float64) float64 { return 1 - (1-u-before)/x }
	places := []float64{0, (1 - after) / x, 1 - before}
	if x > 1 {
		places = append(places, (1-after-(1-before)/x)/(x-1/x)) // where both are the same
	}
	largest := 0.0
	for _, u := range places {
		if u = math.Max(0, u); u > 1 {
			continue
		}
		v := math.Min(1, math.Min(low(u), high(u))+0x1p-45)
		if v <= u {
			continue
		}
		u = math.Max(0, u-0x1p-45)
		if fall := k.LogSlope(u) - k.LogSlope(v); !(fall <= largest) {
			largest = fall + 0x1p-40
		}
	}
	return largest
}

// DeltaAt bounds delta at any real epsilon.
func (b *ByProfiles) DeltaAt(epsilon float64) float64 {
	return math.Max(b.Remove(epsilon), b.Add(epsilon))
}

// Remove bounds the divergence of the outcome with a sample from the outcome without it.
func (b *ByProfiles) Remove(epsilon float64) float64 { return b.at(b.run.Remove, b.logRemove, epsilon) }

// Add bounds the divergence of the outcome without a sample from the outcome with it.
func (b *ByProfiles) Add(epsilon float64) float64 { return b.at(b.run.Add, b.logAdd, epsilon) }

func (b *ByProfiles) at(run func(epsilon float64) float64, log, epsilon float64) float64 {
	delta := 1.0
	if !math.IsInf(log, 1) {
		delta = b.expected * run(math.Min(epsilon, LargestLoss)-log)
	}
	// What the best adds on K >= 1 is at most the probability of that.
	delta = math.Min(1-b.nothing, delta) + b.nothing*math.Max(0, -math.Expm1(epsilon))
	return math.Min(1, delta*(1+rounding)+0x1p-1000)
}

// Work estimates the work of Pair.
func (b *ByProfiles) Work(Grid) float64 { return float64(b.run.Len()) }

// Pair returns the bounds as a pair on a grid, and the number of evaluations that it took.
func (b *ByProfiles) Pair(g Grid) (d *Pair, evaluations int, err error) {
	each := func(at func(epsilon float64) float64) func([]float64) []float64 {
		return func(epsilons []float64) []float64 {
			out := make([]float64, len(epsilons))
			for i, epsilon := range epsilons {
				out[i] = at(epsilon)
			}
			return out
		}
	}
	return pairOf(each(b.Remove), each(b.Add), math.Min(1, b.expected*b.run.removal.inf), math.Min(1, b.expected*b.run.addition.inf), math.Max(1, b.expected), g)
}
