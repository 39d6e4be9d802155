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
	// errNoPair says that an event is known by its Rényi divergences alone.
	errNoPair = errors.New("no privacy-loss distribution")
)

// mostBins is the largest number of cells of one step, on the fine grid.
const mostBins = 1 << 18

// A lossGrid holds the masses p of P at the losses (low+i)·step and with them the masses q = p e^-loss of Q. P has at most
// pInf beyond the grid, and Q at most qInf. Where a loss is said to be at (low+i)·step it may be anywhere within shift of
// it; masses are rounded up.
type lossGrid struct {
	step       float64
	low        int
	p          []float64
	pInf, qInf float64
	shift      float64
}

// sampledGaussian returns the masses of P = (1-rate) N(0, noise^2) + rate N(1, noise^2) and Q = N(0, noise^2), which
// dominate a Poisson-sampled Gaussian mechanism of sensitivity 1 (Zhu, Dong and Wang, 2022). The outcomes between two
// grid points are split between them so that the masses of P and Q are kept; beyond reach standard deviations they go
// to infinity.
//
// With outputs in standard deviations, x = t/noise - 1/(2 noise^2) and e^loss = 1-rate + rate e^x, so what P puts on the
// upper end of the cell from a to b, the integral of p (1 - e^{loss(a)-loss})/(1 - e^-step), is
//
//	rate e^{x(a)}/(1 - e^-step) times the integral of phi(t) (e^{(t-a)/noise} - 1)
//
// and on the lower end rate e^{x(b)} e^-step/(1 - e^-step) times the integral of phi(t) (1 - e^{(t-b)/noise}). Nothing
// cancels in these forms.
func sampledGaussian(rate, noise, step, reach float64) (*lossGrid, error) {
	x := func(t float64) float64 { return t/noise - 0.5/noise/noise }
	lowest, highest := sampledLoss(rate, x(-reach)), sampledLoss(rate, x(1/noise+reach))
	if !(highest < largestLoss && lowest > -largestLoss && lowest < highest) {
		return nil, errTooWide
	}
	first, last := math.Floor(lowest/step), math.Ceil(highest/step)
	if !(last-first <= mostBins) {
		return nil, errTooFine
	}
	g := &lossGrid{step: step, low: int(first), p: make([]float64, int(last-first)+1)}
	n := len(g.p) - 1
	whole, logRate := -math.Expm1(-step), ln(rate)

	// border returns the output at which the loss is that of grid point i, and records by how much it may be off.
	border := func(i int) float64 {
		l := float64(g.low+i) * step
		t := noise*unsampledLoss(rate, l) + 0.5/noise
		if !math.IsInf(t, -1) {
			at := sampledLoss(rate, x(t))
			weight := math.Min(1, math.Exp(logRate+x(t)-at)) // how much of an error of x is one of the loss
			g.shift = math.Max(g.shift, math.Abs(at-l)+0x1p-49*(math.Abs(l)+weight*(math.Abs(t/noise)+1/noise/noise)))
		}
		return t
	}
	// Cells end at limit; what is beyond counts as a tail.
	limit := 1/noise + reach
	from, at := border(0), 0
	if math.IsInf(from, -1) {
		// Every loss is above log(1-rate), which lies between the first two points: the first cell holds all outputs up to
		// the next border, and e^loss(a) is the grid point's own.
		from, at = border(1), 1
		begin, end := math.Min(from, -reach), math.Min(from, limit)
		start := float64(g.low) * step
		gap := (1 - rate) * (0x1p-50*math.Abs(start) - math.Expm1(start-math.Log1p(-rate)))
		_, lower := cellIntegrals(begin, begin, end, from, noise, 0)
		lower += normalBelow(begin)
		if from > limit {
			lower += normalBelow(-limit)
		}
		g.p[1] += (math.Max(0, gap)*normalBelow(from) + rate*normalBelow(from-1/noise)) / whole
		g.p[0] += math.Exp(logRate+x(from)-step) * lower / whole
	} else {
		// P's mass below goes to the lowest point.
		g.p[0] = (1-rate)*normalBelow(from) + rate*normalBelow(from-1/noise)
		g.qInf = normalBelow(from)
	}
	for from < limit && at < n {
		to := math.Max(from, border(at+1))
		// The factor e^x goes into the integral, where it meets phi: neither has to stay within range by itself.
		begin := math.Max(from, math.Min(to, -reach))
		upper, lower := cellIntegrals(from, begin, math.Min(to, limit), to, noise, logRate+x(from))
		if begin > from { // a tail too long to integrate: all of it counts at both ends
			g.p[at+1] += (1-rate)*normalBelow(begin) + rate*normalBelow(begin-1/noise)
			g.p[at] += math.Exp(float64(g.low+at)*step) * normalBelow(begin)
		}
		g.p[at+1] += upper / whole
		g.p[at] += lower * math.Exp((to-from)/noise-step) / whole
		if to > limit {
			from = limit
			break
		}
		from = to
		at++
	}
	// Q's mass above goes to the highest point that none of it is below.
	g.p[at] += math.Exp(float64(g.low+at)*step) * normalBelow(-from)
	g.pInf = (1-rate)*normalBelow(-from) + rate*normalBelow(1/noise-from)
	if g.shift > step {
		return nil, errTooWide // noise of such a size that losses are lost in rounding
	}
	p, q := g.pInf*(1+rounding), g.qInf*(1+rounding)
	g.pInf, g.qInf = p, q
	for i := range g.p {
		g.p[i] *= 1 + rounding
		p += g.p[i]
		q += g.p[i] * math.Exp(-float64(g.low+i)*step)
	}
	if !(p >= 1 && q >= 1) {
		return nil, errTooWide // as in builder.side
	}
	return g, nil
}

// normalBelow is the standard normal distribution function.
func normalBelow(t float64) float64 { return math.Erfc(-t/math.Sqrt2) / 2 }

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
