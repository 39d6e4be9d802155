package pld

import (
	"math"
	"math/bits"

	"github.com/dptrain/dptrain/internal/float"
	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	// logTail is the logarithm of the mass that a window of losses may leave out; what it does leave out is added to the
	// masses at infinity.
	logTail = -50
	// mostTransform is the largest size of a Fourier transform, and mostComposed the largest count it composes: beyond, its
	// error bounds would leave nothing.
	mostTransform = 1 << 20
	mostComposed  = 1 << 32
	// Transforms is how many products of two masses the transforms of a composition take, for each mass of the result.
	Transforms = 64
)

// A composition is a lossGrid composed with itself count times, on a window of losses from first to last in units of the
// grid that is coarser by the factor coarsen. p and q hold the masses of P and Q at the fine points of the window; pAbove
// bounds P's mass beyond it, qBelow Q's below it. Beyond the window the other distribution has at most e^-|loss| as much.
type composition struct {
	step           float64 // of the fine grid
	coarsen        int
	first, last    int
	p, q           []float64
	pAbove, qBelow float64
}

func (c *composition) grid() float64 { return c.step * float64(c.coarsen) }

// removal puts P's masses on the coarse grid. inf is P's mass at infinity, and losses may be higher by shift.
func (c *composition) removal(inf, shift float64) (*side, error) {
	below := c.qBelow * math.Exp(float64(c.first)*c.grid())
	return c.side(c.p, c.first, below, inf+c.pAbove, shift)
}

// addition puts Q's masses on the coarse grid, where losses run the other way.
func (c *composition) addition(inf, shift float64) (*side, error) {
	n := len(c.q)
	q := make([]float64, n)
	for i, v := range c.q {
		q[n-1-i] = v
	}
	above := c.pAbove * math.Exp(-float64(c.last)*c.grid())
	return c.side(q, -c.last, above, inf+c.qBelow, shift)
}

func (c *composition) side(fine []float64, first int, below, inf, shift float64) (*side, error) {
	if shift > c.step {
		return nil, ErrTooWide // see sampledGaussian
	}
	cells := (len(fine) - 1) / c.coarsen
	b, err := newBuilder(c.grid(), float64(first), float64(first+cells+1))
	if err != nil {
		return nil, err
	}
	b.mass[0], b.inf = below, inf
	upper, lower := make([]float64, c.coarsen), make([]float64, c.coarsen)
	for j := range upper {
		upper[j], lower[j] = split(math.Min(float64(j)*c.step+shift, c.grid()), c.grid())
	}
	for i, m := range fine {
		k, j := i/c.coarsen, i%c.coarsen
		b.mass[k] += m * lower[j]
		b.mass[k+1] += m * upper[j]
	}
	return b.side(rounding)
}

// power composes g with itself count times by Fourier transform.
//
// A plain transform has errors of about 1e-16 times count, everywhere, which would drown the tails. So the masses are
// first tilted, to sqrt(p q) e^{t l}: each of a few tilts t puts another part of the losses at the centre, and every
// outcome is taken from the tilt that has the smallest error bound there, and raised by that bound. The window is cyclic:
// mass beyond it falls back into it, which only adds, and is also bounded by Chernoff's inequality and put at infinity.
func (g *lossGrid) power(count, coarsen int) (*composition, error) {
	if count > mostComposed {
		return nil, ErrTooWide
	}
	m := moments{g: g, count: float64(count)}
	high, tiltHigh := m.edge(1)
	low, tiltLow := m.edge(-1)
	if !(high < LargestLoss && low > -LargestLoss && low < high) {
		return nil, ErrTooWide
	}
	c := &composition{step: g.step, coarsen: coarsen}
	first, last := math.Floor(low/c.grid()), math.Ceil(high/c.grid())
	if !(last-first <= mostPoints && (last-first)*float64(coarsen) < mostTransform) {
		return nil, ErrTooFine
	}
	c.first, c.last = int(first), int(last)
	// The rounding of one sum over the masses, count times.
	slack := m.count * float64(len(g.p)+64) * 0x1p-52
	c.pAbove = math.Exp(m.at(tiltHigh) - (tiltHigh-0.5)*last*c.grid() + slack)
	c.qBelow = math.Exp(m.at(tiltLow) - (tiltLow+0.5)*first*c.grid() + slack)
	points := (c.last-c.first)*coarsen + 1
	newTransform(points).power(m, c, points, [3]float64{tiltLow * 2 / 3, 0, tiltHigh * 2 / 3})
	return c, nil
}

// once is the composition of one.
func (g *lossGrid) once() *composition {
	return &composition{step: g.step, coarsen: 1, first: g.low, last: g.low + len(g.p) - 1, p: g.p, q: g.opposite()}
}

// opposite returns Q's masses.
func (g *lossGrid) opposite() []float64 {
	q := make([]float64, len(g.p))
	for i, p := range g.p {
		q[i] = p * math.Exp(-float64(g.low+i)*g.step)
	}
	return q
}

// composedInf bounds the mass at infinity of the composition of count mechanisms that each have inf there and the given
// masses elsewhere: the sum of inf total^k for k < count.
func composedInf(inf float64, finite []float64, count int) float64 {
	if inf == 0 {
		return 0
	}
	total := 0.0
	for _, p := range finite {
		total += p
	}
	n := float64(count)
	return n * inf * math.Exp((n-1)*math.Max(0, float.Log(total)+rounding))
}

// Power composes a pair with itself count times.
func (d *Pair) Power(count int) (*Pair, error) {
	switch count {
	case 0:
		return Neutral(d.removal.step), nil
	case 1:
		return d, nil
	}
	return onBoth(func(s []*side) (*side, error) {
		g := &lossGrid{step: s[0].step, low: s[0].low, p: s[0].mass}
		c, err := g.power(count, 1)
		if err != nil {
			return nil, err
		}
		return c.removal(composedInf(s[0].inf, g.p, count), 0)
	}, d)
}

// moments is the cumulant generating function of a lossGrid, times a count.
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

// edge returns a loss beyond which P (side 1) or Q (side -1) has less than e^logTail after composition, by Chernoff's
// inequality, and the tilt that shows it.
func (m moments) edge(side float64) (loss, tilt float64) {
	bound := func(logX float64) float64 {
		x := math.Exp(logX)
		if x*m.g.step > 16 { // the bound is within a few steps of the largest possible loss, and at would underflow
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

// power fills c.p and c.q.
func (t *transform) power(m moments, c *composition, points int, tilts [3]float64) {
	start := c.first * c.coarsen
	// The mass sqrt(p q) at point j is e^{untilt[j]} mass[j], at most e^{bound[j]} of which is the error's bound.
	bounds, untilts, masses := make([]float64, points), make([]float64, points), make([]float64, points)
	for k, tilt := range tilts {
		logSum := m.at(tilt) / m.count
		noise := t.tilted(m, tilt, logSum)
		logNoise := float.Log(noise)
		position := ((start % t.n) + t.n) % t.n
		for j := range bounds {
			untilt := m.count*logSum - tilt*float64(start+j)*m.g.step
			if bound := untilt + logNoise; k == 0 || bound < bounds[j] {
				bounds[j], untilts[j], masses[j] = bound, untilt, math.Max(0, t.sum[position])+noise
			}
			if position++; position == t.n {
				position = 0
			}
		}
	}
	// The rounding of the exponents below.
	largest, exponent := math.Max(math.Abs(float64(start)), math.Abs(float64(start+points)))*m.g.step, 0.0
	for _, tilt := range tilts {
		exponent = math.Max(exponent, math.Abs(m.at(tilt))+math.Abs(tilt)*largest)
	}
	up := 1 + (exponent+largest+4)*0x1p-50
	c.p, c.q = make([]float64, points), make([]float64, points)
	for j, w := range masses {
		half := float64(start+j) * m.g.step / 2
		c.p[j], c.q[j] = w*up*math.Exp(untilts[j]+half), w*up*math.Exp(untilts[j]-half)
	}
}

// tilted leaves in t.sum upper bounds on the masses of the tilted composition, modulo t.n, short of the error that it
// returns.
//
// Let u = 2^-53. The transform's passes are butterflies of radix 4, at most one of radix 2 and at most one of radix 3
// (fastSize). Follow one input to one output: a pass multiplies it by a tabulated root of unity, whose argument of at most
// 2.4 carries four roundings and whose sine and cosine two each, 12.5u together, by a complex product, sqrt(5)u (Brent,
// Percival and Zimmermann, 2007), and adds it up, twice for radix 4, 2u, once for radix 2, u, and for radix 3 with real
// factors of sum below 1.4, one of them 3.7u off its value, 7.4u; all relative to what the path has carried so far, since
// |fl(y+z) - (y+z)| <= u |y+z|. That makes at most 17u for a pass of radix 4 and 38u for the other two together, and so an error of every output of at most
// (8.5 log2(n) + 46) u times the sum of the inputs' absolute values: of 1 (1+n u) here. Forwards, every frequency X is
// known within e1 of that size. X^count computed by squaring is within (count-1) sqrt(5) u |X|^count of X's own, which is
// within count e1 (|X|+e1)^(count-1) of the true one. Backwards, the errors of all frequencies are averaged, and the
// transform adds its own times the mean of |X|^count.
func (t *transform) tilted(m moments, tilt, logSum float64) float64 {
	const u = 0x1p-53
	p := tilt - 0.5
	// The rounding of one tilted mass: of its exponent and of what it stems from.
	largest := math.Max(math.Abs(m.loss(0)), math.Abs(m.loss(len(m.g.p)-1)))
	up := 1 + u*(4*math.Abs(p)*largest+2*math.Abs(logSum)+8)
	clear(t.sum)
	position := ((m.g.low % t.n) + t.n) % t.n
	total := 0.0
	for i, w := range m.g.p {
		x := w * math.Exp(p*m.loss(i)-logSum) * up
		total += x
		t.sum[position] += x
		if position++; position == t.n {
			position = 0
		}
	}
	passes := 9*float64(bits.Len(uint(t.n))) + 48
	e1 := total * (1 + float64(len(m.g.p))*u) * passes * u
	t.fft.Coefficients(t.hat, t.sum)
	// Frequencies whose power is below e^-80 are left out.
	least := math.Exp(-80 / m.count)
	left := 2 * math.Pow(least+e1, m.count)
	mean := 0.0 // of (|X|+e1)^(count-1) over all frequencies
	for k, z := range t.hat {
		size := math.Sqrt(real(z)*real(z) + imag(z)*imag(z))
		if size < least {
			t.hat[k] = 0
			continue
		}
		z = complexPower(z, int(m.count))
		t.hat[k] = complex(real(z)/float64(t.n), imag(z)/float64(t.n))
		weight := 2.0
		if k == 0 || 2*k == t.n {
			weight = 1
		}
		mean += weight * math.Exp((m.count-1)*float.Log(size+e1))
	}
	mean *= (1 + (m.count+float64(t.n))*8*u) / float64(t.n)
	t.fft.Sequence(t.sum, t.hat)
	above := total + 2*e1 // |X| is nowhere larger
	return (m.count*(e1+3*u*above)+passes*u*above)*mean*(1+1e-9) + left + 0x1p-1000
}

// complexPower returns z^n, n >= 1, with n-1 roundings of complex products at most.
func complexPower(z complex128, n int) complex128 {
	for n%2 == 0 {
		z *= z
		n /= 2
	}
	y := z
	for n /= 2; n > 0; n /= 2 {
		z *= z
		if n%2 == 1 {
			y *= z
		}
	}
	return y
}
