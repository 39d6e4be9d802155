package accountant

import (
	"errors"
	"math"
)

var (
	// errTooFine asks for a coarser grid.
	errTooFine = errors.New("grid too fine")
	// errTooWide says that privacy losses go beyond what this accountant handles; such an event has no useful guarantee.
	errTooWide = errors.New("privacy losses too large")
)

const (
	mostPoints  = 1 << 14 // of a composition, on the shared grid
	mostWork    = 1 << 27 // products of two masses, to compose or select
	mostBins    = 1 << 18 // of a Fourier transform and of one step, on the fine grid
	largestLoss = 600     // e^loss and e^(-2 loss) stay far from overflow
)

// sampledLoss is the privacy loss log(1 - rate + rate e^x) of a sampled mechanism whose own loss is x.
func sampledLoss(rate, x float64) float64 {
	switch {
	case rate == 1:
		return x
	case x > 30:
		return x + math.Log(rate) + math.Log1p((1-rate)/rate*math.Exp(-x))
	}
	return math.Log1p(rate * math.Expm1(x))
}

// unsampledLoss inverts sampledLoss; it is -Inf below the smallest loss that sampling allows.
func unsampledLoss(rate, l float64) float64 {
	x := math.Expm1(l) / rate
	switch {
	case rate == 1:
		return l
	case x <= -1:
		return math.Inf(-1)
	case l > 30:
		return l - math.Log(rate) + math.Log1p(-(1-rate)*math.Exp(-l))
	}
	return math.Log1p(x)
}

// sampledGaussianPair is a pair for P = (1-rate) N(0, noise^2) + rate N(1, noise^2) and Q = N(0, noise^2), which dominate
// a Poisson-sampled Gaussian mechanism of sensitivity 1. The losses of every cell between grid points are moved to its
// ends, with the masses of P and Q kept. Losses more than reach standard deviations out go to infinity.
func sampledGaussianPair(rate, noise, step, reach float64) (*pair, error) {
	lossAt := func(t float64) float64 { return sampledLoss(rate, (t-0.5)/noise/noise) }
	lowest, highest := lossAt(-reach*noise), lossAt(1+reach*noise)
	if !(highest < largestLoss && lowest > -largestLoss) {
		return nil, errTooWide
	}
	if !((highest-lowest)/step <= mostBins) {
		return nil, errTooFine
	}
	b := newBuilder(step, int(math.Floor(lowest/step)), int(math.Ceil(highest/step)))

	// threshold is the output at which the loss is l, in standard deviations.
	threshold := func(l float64) float64 { return noise*unsampledLoss(rate, l) + 0.5/noise }
	last := len(b.p) - 1
	at := func(i int) float64 { return float64(b.low+i) * step }
	from := threshold(at(0))
	b.below(normalMass(math.Inf(-1), from), normalMass(math.Inf(-1), from-1/noise), rate)
	for i := range last {
		to := threshold(at(i + 1))
		q, shifted := normalMass(from, to), normalMass(from-1/noise, to-1/noise)
		// Of P's mass in the cell, the part upper goes to the upper end: p - upper + upper = p and
		// (p - upper) e^-l + upper e^-(l+step) = q.
		p := (1-rate)*q + rate*shifted
		upper := (rate*shifted - (math.Expm1(at(i))+rate)*q) / -math.Expm1(-step)
		upper = math.Max(0, math.Min(upper, p))
		b.putAt(b.low+i, p-upper)
		b.putAt(b.low+i+1, upper)
		from = to
	}
	b.above(normalMass(from, math.Inf(1)), normalMass(from-1/noise, math.Inf(1)), rate)
	return b.pair(), nil
}

// below takes the masses of N(0) and N(1) with losses below the grid: P's goes to the lowest point, and what that leaves
// of Q's to minus infinity.
func (b *builder) below(q, shifted, rate float64) {
	p := (1-rate)*q + rate*shifted
	b.putAt(b.low, p)
	b.qInf += math.Max(0, q-p*math.Exp(-float64(b.low)*b.step))
}

// above takes those with losses above the grid: Q's goes to the highest point, and what that leaves of P's to infinity.
func (b *builder) above(q, shifted, rate float64) {
	high := b.low + len(b.p) - 1
	p := math.Exp(float64(high)*b.step) * q
	b.putAt(high, p)
	b.pInf += math.Max(0, (1-rate)*q+rate*shifted-p)
}

// normalMass is the standard normal probability of (a, b), with all its digits in either tail.
func normalMass(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
}

// sampledGaussianVariance estimates the variance of the loss of one step halfway between P and Q, by quadrature. It only
// chooses grids, so its error costs nothing but tightness.
func sampledGaussianVariance(rate, noise float64) float64 {
	const nodes, reach = 1000, 12
	var losses, weights [nodes]float64
	largest := math.Inf(-1)
	for i := range nodes {
		t := (float64(i)+0.5)/nodes*(1/noise+2*reach) - reach // in standard deviations
		losses[i] = sampledLoss(rate, t/noise-0.5/noise/noise)
		weights[i] = -t*t/2 + losses[i]/2
		largest = math.Max(largest, weights[i])
	}
	var m0, m1, m2 float64
	for i, l := range losses {
		w := math.Exp(weights[i] - largest)
		m0, m1, m2 = m0+w, m1+w*l, m2+w*l*l
	}
	return math.Max(0, m2/m0-m1/m0*m1/m0)
}
