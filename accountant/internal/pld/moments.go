package pld

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// moments evaluates the cumulant generating function of a lossGrid, times a count.
type moments struct {
	g     *lossGrid
	count float64
}

func (m moments) loss(i int) float64 { return float64(m.g.low+i) * m.g.step }

// at returns count times the logarithm of the sum of sqrt(p q) e^(tilt l). Tilt 1/2 is P and -1/2 is Q.
func (m moments) at(tilt float64) float64 {
	p := tilt - 0.5                                        // the tilt of P
	shift := math.Max(p*m.loss(0), p*m.loss(len(m.g.p)-1)) // the largest exponent
	total := 0.0
	// One exponential for every 32 points: the grid is even.
	ratio := math.Exp(p * m.g.step)
	var e float64
	for i, w := range m.g.p {
		if i%32 == 0 {
			e = math.Exp(p*m.loss(i) - shift)
		}
		total += w * e
		e *= ratio
	}
	return m.count * (float.Log(total) + shift)
}

// widest is the maximum logarithm of the mass outside the window of a composition: that mass wraps around into the
// window, and it must be far below the transform's own errors.
const widest = -50

// window returns the losses between which a composition is computed, and the tilts for which Chernoff's inequality
// bounds the mass beyond them: less than e^widest, unless losses are too large.
func (m moments) window() (low, tiltLow, high, tiltHigh float64) {
	for _, logTail := range []float64{math.Min(m.g.logTail, widest), m.g.logTail} {
		high, tiltHigh = m.edge(1, logTail)
		low, tiltLow = m.edge(-1, logTail)
		if high < LargestLoss && low > -LargestLoss {
			break
		}
	}
	return low, tiltLow, high, tiltHigh
}

// edge returns a loss beyond which P (side 1) or Q (side -1) has a mass below e^logTail after composition, and the tilt
// for which Chernoff's inequality shows that.
func (m moments) edge(side, logTail float64) (loss, tilt float64) {
	bound := func(logX float64) float64 {
		x := math.Exp(logX)
		if x*m.g.step > 16 { // the bound is within a few steps of the largest possible loss, and m.at would underflow
			return math.Inf(1)
		}
		return (m.at(side*(x+0.5)) - logTail) / x
	}
	// The bound is quasiconvex in x: walk down with shrinking strides.
	x, best := 0.0, bound(0)
	for stride := 4.0; stride > 0.1; stride /= 2 {
		for _, s := range []float64{stride, -stride} {
			for {
				v := bound(x + s)
				if !(v < best) {
					break
				}
				x, best = x+s, v
			}
		}
	}
	return side * best, side * (math.Exp(x) + 0.5)
}

// tilts returns the tilts of a composition. A tilt's errors are 1e-16 of the largest tilted mass, which is as small
// some eight standard deviations from the tilt's centre; a tail of e^-50 begins ten standard deviations out. The tilts
// begin at the grid's own tails: masses that end before the window have no best tilt at its edges.
func (m moments) tilts() []float64 {
	_, high := m.edge(1, m.g.logTail)
	_, low := m.edge(-1, m.g.logTail)
	sides := math.Max(1, math.Ceil(math.Sqrt(-2*m.g.logTail)/10)) // of each side
	all := []float64{0}
	for i := 1.0; i <= sides; i++ {
		all = append(all, low*i/(sides+0.5), high*i/(sides+0.5))
	}
	return all
}
