package accountant

import (
	"math"
	"math/rand/v2"
)

// Draw draws K by inversion, adding independent parts of mean at most 16 so that no probability underflows. Like
// the other methods of this name it takes no nil source.
func (p Poisson) Draw(src rand.Source) int {
	return drawPoisson(rand.New(src), p.Mean)
}

// Draw draws the first arrival of a unit-rate process on [0, Rate] on condition that there is one, and then counts the
// later arrivals.
func (p TruncatedPoisson) Draw(src rand.Source) int {
	r := rand.New(src)
	first := -math.Log1p(r.Float64() * math.Expm1(-p.Rate))
	return 1 + drawPoisson(r, math.Max(p.Rate-first, 0))
}

// Draw draws K by inversion, with one uniform.
func (d TruncatedNegativeBinomial) Draw(src rand.Source) int {
	u := rand.New(src).Float64()
	// P(K = 1) is phi1(0); P(K = k+1)/P(K = k) = (1-gamma)(k+eta)/(k+1).
	p := math.Exp(d.law().LogSlope(1))
	k := 1
	for u >= p && p > 0 {
		u -= p
		p *= (1 - d.Success) * (float64(k) + d.Shape) / float64(k+1)
		k++
	}
	return k
}

// Draw draws each of the trials.
func (b Binomial) Draw(src rand.Source) int {
	r, k := rand.New(src), 0
	for range b.Trials {
		if r.Float64() < b.Probability {
			k++
		}
	}
	return k
}

// Draw returns Trials and reads nothing from src.
func (f Fixed) Draw(rand.Source) int { return f.Trials }

func drawPoisson(r *rand.Rand, mean float64) int {
	const part = 16
	k := 0
	for ; mean > part; mean -= part {
		k += invertPoisson(r.Float64(), part)
	}
	return k + invertPoisson(r.Float64(), mean)
}

func invertPoisson(u, mean float64) int {
	p := math.Exp(-mean)
	k := 0
	for u >= p && p > 0 {
		u -= p
		k++
		p *= mean / float64(k)
	}
	return k
}
