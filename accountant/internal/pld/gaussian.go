package pld

import (
	"errors"
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

var (
	// ErrTooFine reports that an operation would take too long or too much memory on this grid. A coarser grid may do.
	ErrTooFine = errors.New("grid too fine")
	// ErrTooWide reports privacy losses beyond LargestLoss or lost in rounding: there is no useful guarantee.
	ErrTooWide = errors.New("privacy losses too large")
)

// mostBins is the largest number of cells of one step, on the fine grid.
const mostBins = 1 << 18

// A lossGrid holds the masses p[i] of P at the losses (low+i)·step, and so the masses p e^-loss of Q, rounded up. A
// loss may be off by up to shift. P has a mass of at most pInf beyond the grid, and Q at most qInf.
type lossGrid struct {
	Grid
	low        int
	p          []float64
	pInf, qInf float64
	shift      float64
}

// newLossGrid returns a grid of the given step without masses, from the lowest loss to the highest.
func newLossGrid(g Grid, lowest, highest float64) (*lossGrid, error) {
	if !(highest < LargestLoss && lowest > -LargestLoss && lowest < highest) {
		return nil, ErrTooWide
	}
	first, last := math.Floor(lowest/g.step), math.Ceil(highest/g.step)
	if !(last-first <= mostBins) {
		return nil, ErrTooFine
	}
	return &lossGrid{Grid: g, low: int(first), p: make([]float64, int(last-first)+1)}, nil
}

// stepLoss returns the privacy loss at t standard deviations of a step that takes all samples.
func stepLoss(noise, t float64) float64 { return t/noise - 0.5/noise/noise }

// sampledBorder returns an output at which the loss is about l, or -Inf if it is larger everywhere, and by how much the
// loss there may differ from l.
func sampledBorder(rate, noise, l float64) (t, error float64) {
	t = noise*unsampledLoss(rate, l) + 0.5/noise
	if math.IsInf(t, -1) {
		return t, 0
	}
	x := stepLoss(noise, t)
	at := sampledLoss(rate, x)
	weight := math.Min(1, math.Exp(float.Log(rate)+x-at)) // the share of an error of x that enters the loss
	return t, math.Abs(at-l) + 0x1p-49*(math.Abs(l)+weight*(math.Abs(t/noise)+1/noise/noise))
}

// largestShift is the largest error of a border's loss that a grid may have, in its steps or 1 if they are larger.
const largestShift = 1. / 16

// borderSlack returns the factor by which a cell's masses are raised, given the errors e and f of the losses at its two
// borders. Then the cell's chord, with losses higher by these errors, is a bound.
//
// Proof. Let A and B = A e^step be the ratios at the grid points, and a <= A e^e and b >= B e^-f the ratios at the
// borders. The true chord has its masses at a and b, integrals divided by b-a. Here the masses are divided by B-A. So
// Q's masses are low by a factor of at most (B-A)/(b-a). With m = min(step, 1) and e, f <= m/16 we have
//
//	(b-a)/(B-A) >= 1 - (1.04 e + f e^step)/(e^step - 1) >= 1 - 1.6 (e+f)/m >= 1/(1 + 2 (e+f)/m),
//
// and P's masses by a factor of at most e^f more, at losses higher by f.
func borderSlack(e, f, step float64) float64 { return 1 + 4*(e+f)/math.Min(step, 1) }

// massRounding bounds the relative error of a step's masses, for outputs of at most t, exponents of slope at most slope
// in t, and weights whose logarithm is at most largestLog.
//
// Proof. A mass is a sum of positive terms. Each is a product of a few factors, one of them an integral of
// [cellIntegrals], with an error of 2^-43, or a normal distribution function, with an error of some roundings and t²
// more. In an integral's terms the exponent log w + s t - s²/2 - t²/2 has roundings of at most 3 |log w| + 3 s t + 2 s²
// + 2.5 t² units of 2^-53, and e^{s d} - 1 for a distance d <= 2 t of 2 + 4 s t. A cell may begin far below -t. Then s
// times that output is at most |log w|, the loss's size and 37, in all: it is a loss of the grid, of which
// [lossGrid.raised] allows for the roundings.
func massRounding(t, slope, largestLog float64) float64 {
	return 0x1p-42 + 0x1p-50*(math.Abs(largestLog)+(t+slope)*(t+slope))
}

// raised raises all masses by a relative slack, and by the rounding of Q's masses at their losses. It refuses a grid
// that has lost masses to rounding.
func (g *lossGrid) raised(slack float64) (*lossGrid, error) {
	n := len(g.p)
	up := 1 + slack + 0x1p-51*math.Max(math.Abs(float64(g.low)), math.Abs(float64(g.low+n-1)))*g.step
	g.pInf, g.qInf = g.pInf*up, g.qInf*up
	var sumP, sumQ accurate
	sumP.add(g.pInf)
	sumQ.add(g.qInf)
	for i := range g.p {
		g.p[i] *= up
		sumP.add(g.p[i])
		sumQ.add(g.p[i] * math.Exp(-float64(g.low+i)*g.step))
	}
	if !(sumP.value() >= 1 && sumQ.value() >= 1) {
		return nil, ErrTooWide // as in builder.side
	}
	return g, nil
}

// normalBelow returns the standard normal distribution function at t.
func normalBelow(t float64) float64 { return math.Erfc(-t/math.Sqrt2) / 2 }

// halfwayVariance estimates the variance halfway between P and Q of a loss that is a function of the standard
// deviations t, from the nodes in an interval of the given width. of also returns log sqrt(p q)/phi.
func halfwayVariance(low, width float64, of func(t float64) (loss, halfway float64)) float64 {
	const nodes = 1000
	var losses, weights [nodes]float64
	largest := math.Inf(-1)
	for i := range nodes {
		t := low + (float64(i)+0.5)/nodes*width
		losses[i], weights[i] = of(t)
		weights[i] -= t * t / 2
		largest = math.Max(largest, weights[i])
	}
	var m0, m1, m2 float64
	for i, l := range losses {
		w := math.Exp(weights[i] - largest)
		m0, m1, m2 = m0+w, m1+w*l, m2+w*l*l
	}
	return math.Max(0, m2/m0-m1/m0*m1/m0)
}

// finePoints is the number of grid points in a standard deviation of one step's losses. Rounding losses to n points
// raises their variance by a relative 1/(6 n^2), which raises epsilon by about half as much.
const finePoints = 32

// A gridMaker returns the masses of one step on a grid, where outcomes beyond reach standard deviations go to infinity.
type gridMaker func(on Grid, reach float64) (*lossGrid, error)

// Sampling more costs more: (1-g) Q + g P moves from Q to P, and divergences are convex. Rates so near 0 or 1 that
// roundings matter are replaced by the end.
const leastRate, mostRate = 1e-100, 1 - 0x1p-20

// composedSteps composes count steps with the masses of one. variance estimates the variance of a step's loss.
func composedSteps(one gridMaker, variance func() float64, g Grid, count int) (d *Pair, each int, err error) {
	fineness := 1
	if count > 1 {
		deviation := math.Sqrt(variance())
		// With twice the square root of count, the steps' rounding together adds a quarter of the variance of the
		// shared grid's rounding. A finer grid would gain nothing.
		most := math.Min(2*math.Sqrt(float64(count)), mostBins/8)
		fineness = int(math.Ceil(math.Max(1, math.Min(g.step*finePoints/deviation, most))))
	}
	for ; ; fineness = (fineness + 1) / 2 {
		d, err := composedGrid(one, count, g, fineness)
		if !errors.Is(err, ErrTooFine) || fineness == 1 {
			return d, Transforms * fineness, err
		}
	}
}

// composedGrid composes count steps on a grid that is finer than shared by the factor fineness.
func composedGrid(one gridMaker, count int, shared Grid, fineness int) (*Pair, error) {
	g, err := one(shared.by(shared.step/float64(fineness)), shared.reach(count))
	if err != nil {
		return nil, err
	}
	c := g.once()
	if count > 1 {
		if c, err = g.power(count, fineness); err != nil {
			return nil, err
		}
	}
	shift := g.shift * float64(count)
	removal, err := c.removal(composedInf(g.pInf, g.p, count), shift)
	if err != nil {
		return nil, err
	}
	addition, err := c.addition(composedInf(g.qInf, g.opposite(), count), shift)
	return &Pair{removal, addition}, err
}
