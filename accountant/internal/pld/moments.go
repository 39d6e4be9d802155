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

// tilts returns the tilts of a composition, ascending. Each has errors of some 1e-16 times the count of its largest
// mass, in all of its masses. So there are enough for errors to be small everywhere, against the masses of P and Q or
// against the grid's tail; for a normal law one tilt serves some eight standard deviations, for a skew one fewer. The
// tilts begin at the grid's own tails: masses that end before the window have no best tilt at its edges.
func (m moments) tilts() (all []float64) {
	const most = 4 // of each side
	last, high := m.edge(1, m.g.logTail)
	first, low := m.edge(-1, m.g.logTail)
	for sides := 1.0; sides <= most; sides++ {
		all = nil
		for i := -sides; i <= sides; i++ {
			all = append(all, (math.Max(i, 0)*high-math.Min(i, 0)*low)/(sides+0.5))
		}
		if m.near(all, first, last) {
			break
		}
	}
	return all
}

// near reports whether errors are small, by an estimate: at both ends of the losses, and where the errors of two
// neighbouring tilts are equal.
func (m moments) near(tilts []float64, first, last float64) bool {
	const errors, small = -32, -9 // logarithms
	off := float.Log(m.count) + errors
	above := func(tilt, l float64) bool { return m.at(tilt)-tilt*l+off+math.Abs(l)/2 > m.g.logTail }
	for i, high := range tilts[1:] {
		low, mid := tilts[i], (tilts[i]+high)/2
		l := (m.at(high) - m.at(low)) / (high - low)
		if above(low, l) && m.at(low)-low*l+off > m.at(mid)-mid*l+small {
			return false
		}
	}
	return !above(tilts[0], first) && !above(tilts[len(tilts)-1], last)
}
