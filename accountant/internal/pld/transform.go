package pld

import (
	"math"
	"math/bits"

	"github.com/dptrain/dptrain/internal/float"
	"gonum.org/v1/gonum/dsp/fourier"
)

// A transform is a Fourier transform of size n, with its input and output.
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

// power computes c.p and c.q, the masses of the composition at the points of its window, from the best of the given
// tilts.
func (t *transform) power(m moments, c *composition, points int, tilts []float64) {
	start := c.first * c.coarsen
	// The mass sqrt(p q) at point j is e^{untilts[j]} masses[j], with an error of at most e^{bounds[j]}.
	bounds, untilts, masses := make([]float64, points), make([]float64, points), make([]float64, points)
	logSums, noises, sums := make([]float64, len(tilts)), make([]float64, len(tilts)), make([][]float64, len(tilts))
	calls := make([]func(), len(tilts))
	for k, tilt := range tilts {
		calls[k] = func() {
			own := t
			if k > 0 {
				own = newTransform(t.n)
			}
			logSums[k] = m.at(tilt) / m.count
			noises[k] = own.tilted(m, tilt, logSums[k])
			sums[k] = own.sum
		}
	}
	atOnce(calls...)
	for k, tilt := range tilts {
		logSum, noise, sum := logSums[k], noises[k], sums[k]
		logNoise := float.Log(noise)
		position := ((start % t.n) + t.n) % t.n
		for j := range bounds {
			untilt := m.count*logSum - tilt*float64(start+j)*m.g.step
			if bound := untilt + logNoise; k == 0 || bound < bounds[j] {
				bounds[j], untilts[j], masses[j] = bound, untilt, math.Max(0, sum[position])+noise
			}
			if position++; position == t.n {
				position = 0
			}
		}
	}
	// up allows for the rounding of the exponents below.
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

// tilted computes the masses of the tilted composition, modulo t.n, into t.sum. They are upper bounds once the returned
// error is added.
//
// Proof. Let u = 2^-53. The transform's passes are butterflies of radix 4, at most one of radix 2 and at most one of
// radix 3 (fastSize). Follow one input to one output: a pass multiplies it by a tabulated root of unity, whose argument
// of at most 2.4 carries four roundings and whose sine and cosine two each, 12.5u together, by a complex product,
// sqrt(5)u (Brent, Percival and Zimmermann, 2007), and adds it up, twice for radix 4, 2u, once for radix 2, u, and for
// radix 3 with real factors of sum below 1.4, one of them 3.7u off its value, 7.4u; all relative to what the path has
// carried so far, since |fl(y+z) - (y+z)| <= u |y+z|. That makes at most 17u for a pass of radix 4 and 38u for the
// other two together, and so an error of every output of at most (8.5 log2(n) + 46) u times the sum of the inputs'
// absolute values: of 1 (1+n u) here. Forwards, every frequency X is known within e1 of that size. X^count computed by
// squaring is within (count-1) sqrt(5) u |X|^count of X's own, which is within count e1 (|X|+e1)^(count-1) of the true
// one. Backwards, the errors of all frequencies are averaged, and the transform adds its own times the mean of
// |X|^count.
func (t *transform) tilted(m moments, tilt, logSum float64) float64 {
	const u = 0x1p-53
	p := tilt - 0.5
	// up allows for the rounding of one tilted mass, of its exponent and of its factors.
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
	above := total + 2*e1 // at least |X| everywhere
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
