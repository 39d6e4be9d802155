package accountant

import (
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// logTail is the logarithm of the mass that a window of losses may leave out; what it does leave out is added to pInf
// and qInf.
const logTail = -50

// power composes a pair with itself count times by Fourier transform and puts the outcome on a grid that is coarser by
// the integer factor coarsen.
//
// A plain transform has errors of about 1e-16 times count, everywhere, which would drown the tails. So the masses are
// first tilted, w_i e^(t l_i) with w = sqrt(p q): each of a few tilts t puts another part of the losses at the centre,
// and every outcome is taken from the tilt that has the smallest error bound there, and raised by that bound. The
// window is cyclic: mass beyond it falls back into it, which only adds, and is also bounded by Chernoff's inequality and
// put at infinity.
func (d *pair) power(count, coarsen int) (*pair, error) {
	switch {
	case count == 0:
		return neutral(d.step * float64(coarsen)), nil
	case count == 1 && coarsen == 1:
		return d, nil
	}
	m := newMoments(d, float64(count))
	high, tiltHigh := m.edge(1)
	low, tiltLow := m.edge(-1)
	if !(high < largestLoss && low > -largestLoss) {
		return nil, errTooWide
	}
	grid := d.step * float64(coarsen)
	first, last := int(math.Floor(low/grid)), int(math.Ceil(high/grid))
	if last-first > mostPoints {
		return nil, errTooFine
	}
	b := newBuilder(grid, first, last)
	pTail := math.Exp(m.at(tiltHigh) - (tiltHigh-0.5)*float64(last)*grid)
	qTail := math.Exp(m.at(tiltLow) - (tiltLow+0.5)*float64(first)*grid)
	b.pInf = -math.Expm1(float64(count)*math.Log1p(-d.pInf)) + pTail
	b.qInf = -math.Expm1(float64(count)*math.Log1p(-d.qInf)) + qTail
	// Beyond the window the other distribution has at most e^-l times as much.
	b.putAt(first, qTail*math.Exp(float64(first)*grid))
	b.putAt(last, pTail)

	start := first * coarsen
	masses := newTransform((last-first)*coarsen+1).power(m, count, start, tiltLow, tiltHigh)
	// Split each mass between the two points of the coarse grid around it, as builder.put does.
	for k := range last - first {
		at := float64(first+k) * grid
		for j := range coarsen {
			x := float64(j) * d.step
			w := masses[k*coarsen+j] * math.Exp((at+x)/2) // of P
			upper := w * -math.Expm1(-x) / -math.Expm1(-grid)
			b.putAt(first+k+1, upper)
			b.putAt(first+k, w-upper)
		}
	}
	b.putAt(last, masses[(last-first)*coarsen]*math.Exp(float64(last)*grid/2))
	return b.pair(), nil
}

// moments holds the masses sqrt(p q) of a pair and their cumulant generating function, times a count.
type moments struct {
	pair   *pair
	masses []float64
	count  float64
}

func newMoments(d *pair, count float64) moments {
	m := moments{pair: d, masses: make([]float64, len(d.p)), count: count}
	for i, p := range d.p {
		m.masses[i] = p * math.Exp(-d.loss(i)/2)
	}
	return m
}

// at returns count times the logarithm of the sum of w e^(tilt l). Tilt 1/2 is P and -1/2 is Q.
func (m moments) at(tilt float64) float64 {
	shift := math.Max(tilt*m.pair.loss(0), tilt*m.pair.loss(len(m.masses)-1)) // the largest exponent
	total := 0.0
	// One exponential for every 32 points: the grid is even.
	ratio := math.Exp(tilt * m.pair.step)
	var e float64
	for i, w := range m.masses {
		if i%32 == 0 {
			e = math.Exp(tilt*m.pair.loss(i) - shift)
		}
		total += w * e
		e *= ratio
	}
	return m.count * (math.Log(total) + shift)
}

// edge returns a loss beyond which P (side 1) or Q (side -1) has less than e^logTail after composition, by Chernoff's
// inequality, and the tilt that shows it.
func (m moments) edge(side float64) (loss, tilt float64) {
	bound := func(logX float64) float64 {
		x := math.Exp(logX)
		if x*m.pair.step > 16 { // the bound is within a few steps of the largest possible loss, and at would underflow
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

type transform struct {
	fft *fourier.FFT
	n   int
	sum []float64
	hat []complex128
}

func newTransform(atLeast int) *transform {
	n := fastSize(atLeast)
	return &transform{fft: fourier.NewFFT(n), n: n, sum: make([]float64, n), hat: make([]complex128, n/2+1)}
}

// fastSize returns the smallest 2^k or 3·2^k that is at least n.
func fastSize(n int) int {
	size := 1 << bits.Len(uint(max(n, 4)-1))
	if size/4*3 >= n {
		return size / 4 * 3
	}
	return size
}

// power returns the masses sqrt(p q) of the composition at grid positions start, start+1, ...
func (t *transform) power(m moments, count, start int, tiltLow, tiltHigh float64) []float64 {
	masses, bounds := make([]float64, t.n), make([]float64, t.n)
	for k, tilt := range []float64{tiltLow * 2 / 3, 0, tiltHigh * 2 / 3} {
		total := m.at(tilt)
		noise := math.Log(t.tilted(m, tilt, total/m.count, count))
		for j := range masses {
			untilt := total - tilt*float64(start+j)*m.pair.step
			if bound := untilt + noise; k == 0 || bound < bounds[j] {
				bounds[j] = bound
				position := (start + j) % t.n
				if position < 0 {
					position += t.n
				}
				masses[j] = math.Exp(untilt)*math.Max(0, t.sum[position]) + math.Exp(bound)
			}
		}
	}
	return masses
}

// tilted leaves in t.sum the masses of the tilted composition, modulo t.n, and returns a bound on the error of each.
func (t *transform) tilted(m moments, tilt, logSum float64, count int) float64 {
	clear(t.sum)
	position := m.pair.low % t.n
	if position < 0 {
		position += t.n
	}
	for i, w := range m.masses {
		t.sum[position] += w * math.Exp(tilt*m.pair.loss(i)-logSum)
		if position++; position == t.n {
			position = 0
		}
	}
	t.fft.Coefficients(t.hat, t.sum)
	c := float64(count)
	negligible := math.Exp(-160 / c)    // its root to the power of count is e^-80
	mean := math.Exp(-80 * (c - 1) / c) // of |hat|^(count-1) over all frequencies, those left out at their most
	for k, z := range t.hat {
		square := real(z)*real(z) + imag(z)*imag(z)
		if square < negligible {
			t.hat[k] = 0
			continue
		}
		t.hat[k] = cmplx.Exp(complex(c, 0)*cmplx.Log(z)) / complex(float64(t.n), 0)
		weight := 2 / float64(t.n)
		if k == 0 || 2*k == t.n {
			weight /= 2
		}
		mean += weight * math.Exp((c-1)/2*math.Log(square))
	}
	t.fft.Sequence(t.sum, t.hat)
	// Every coefficient of a transform of masses that sum to 1 carries an error of at most a few roundings for each of
	// its log2(n) levels; raising to a power multiplies it by count |hat|^(count-1), and going back averages it. What was
	// left out is below e^-80.
	const roundings = 10 * 0x1p-53
	return (c+1)*roundings*float64(bits.Len(uint(t.n)))*mean + 0x1p-110
}
