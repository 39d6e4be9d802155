package random

import "math"

// This file is the definition of Normals. Every other implementation (the assembly beside it, a GPU kernel) gives the
// same bits, so it must do the same IEEE double operations: each +, -, *, / and square root below is rounded once, to
// nearest even; fma(a, b, c) is a·b + c rounded once; polynomials run from the highest coefficient down by Horner's
// rule, p = fma(p, z, next). No product here feeds an addition except through math.FMA, so a compiler that contracts
// a·b + c into one operation, as Go's may on some architectures, finds nothing to contract. A C or CUDA twin is
// compiled without contraction and writes fma where this file does (testdata/normals.c). Where the processor has no
// fma, math.FMA computes it in software: the same bits, slowly.

// Coefficients of the three polynomials. Each is the minimax polynomial (Remez exchange at 60 digits, with mpmath
// 1.3.0), its coefficients rounded to double one after the other from the lowest and the rest fitted again.
// TestPolynomials checks the stated errors.
const (
	// Within 2^-59 of (4 atanh(s) - 4s) / s^3 relative to the whole, in z = s², |s| <= (1-√½)/(1+√½).
	log0 = 0x1.5555555555592p+0
	log1 = 0x1.999999997ff03p-1
	log2 = 0x1.24924941e3510p-1
	log3 = 0x1.c71c52123f7ffp-2
	log4 = 0x1.74663d6d775ddp-2
	log5 = 0x1.39a1da354e2d3p-2
	log6 = 0x1.2f045bff5a44fp-2

	// Within 2^-57 of (sin(2πx) - 2πx) / x³ relative to the whole, in z = x², |x| <= 1/8.
	sin0 = -0x1.4abbce625be46p+5
	sin1 = 0x1.466bc67758c4cp+6
	sin2 = -0x1.32d2cce31bf18p+6
	sin3 = 0x1.507830034a877p+5
	sin4 = -0x1.e3008fb345f72p+3
	sin5 = 0x1.e3fbe7157dc87p+1

	// Within 2^-61 of (cos(2πx) - 1) / x² absolutely in the whole, in z = x², |x| <= 1/8.
	cos0 = -0x1.3bd3cc9be45dep+4
	cos1 = 0x1.03c1f081b5a4fp+6
	cos2 = -0x1.55d3c7e3bf5abp+6
	cos3 = 0x1.e1f506749a43cp+5
	cos4 = -0x1.a6d1e138d0233p+4
	cos5 = 0x1.f9c3d3cc528e2p+2
	cos6 = -0x1.afee4a6def7c0p+0

	twoLn2  = 0x1.62e42fefa39efp+0  // 2 ln 2, rounded to nearest
	twoPi   = 0x1.921fb54442d18p+2  // 2π, rounded to nearest
	twoPiLo = 0x1.1a62633145c07p-52 // 2π - twoPi, rounded to nearest
)

// Fields of a double's bits.
const (
	signBit      = 1 << 63
	mantissaBits = 1<<52 - 1
	oneBits      = 0x3ff0000000000000
	sqrtHalfBits = 0x3fe6a09e667f3bcd // √½, rounded to nearest
)

// boxMullerPortable sets dst[2i], dst[2i+1] to the normals of words[2i], words[2i+1]. Both have the same even length.
func boxMullerPortable(dst []float64, words []uint64) {
	dst = dst[:len(words)]
	for i := 0; i+1 < len(words); i += 2 {
		dst[i], dst[i+1] = normalPair(words[i], words[i+1])
	}
}

// normalPair is Box and Muller's transform ("A Note on the Generation of Random Normal Deviates", 1958): the point at
// the radius that w1 gives and the angle of w2·2^-64 turns has independent standard normal coordinates.
func normalPair(w1, w2 uint64) (float64, float64) {
	r := math.Sqrt(radiusSquared(w1))
	sin, cos := sincos(w2)
	return r * cos, r * sin
}

// radiusSquared returns -2 ln u for u = (w + ½)·2^-64, the middle of w's cell of the unit interval: it ranges from 0
// to 130 ln 2 = 90.1, whose root is 9.49.
func radiusSquared(w uint64) float64 {
	// u = m·2^-n with m in [√½, √2): adding 1 - √½ to the bits carries into the exponent exactly when m would
	// be at least √2.
	a := float64(w) + 0.5
	b := math.Float64bits(a) + (oneBits - sqrtHalfBits)
	n := float64(64 + 1023 - int64(b>>52))
	m := math.Float64frombits(b&mantissaBits + sqrtHalfBits)

	// -2 ln m = 4 atanh s = 4s + s³·P(s²).
	s := (1 - m) / (1 + m)
	z := s * s
	p := math.FMA(log6, z, log5)
	p = math.FMA(p, z, log4)
	p = math.FMA(p, z, log3)
	p = math.FMA(p, z, log2)
	p = math.FMA(p, z, log1)
	p = math.FMA(p, z, log0)
	return math.FMA(n, twoLn2, math.FMA(s, z*p, 4*s))
}

// sincos returns the sine and cosine of w·2^-64 turns.
func sincos(w uint64) (sin, cos float64) {
	// The angle is q quarter turns and x in [-1/8, 1/8) of a turn. Shifting q's two bits out leaves x as a signed
	// integer, so x keeps its relative precision near every axis.
	x := float64(int64(w<<2)) * 0x1p-66
	z := x * x

	p := math.FMA(sin5, z, sin4)
	p = math.FMA(p, z, sin3)
	p = math.FMA(p, z, sin2)
	p = math.FMA(p, z, sin1)
	p = math.FMA(p, z, sin0)
	p = math.FMA(p, z, twoPiLo)
	sin = math.FMA(x, twoPi, x*p)

	p = math.FMA(cos6, z, cos5)
	p = math.FMA(p, z, cos4)
	p = math.FMA(p, z, cos3)
	p = math.FMA(p, z, cos2)
	p = math.FMA(p, z, cos1)
	p = math.FMA(p, z, cos0)
	cos = math.FMA(p, z, 1)

	// q, rounded to nearest, is in the top two bits of v: an odd q swaps the two, q = 2, 3 negates the sine and
	// q = 1, 2 the cosine. The masks spare a branch that would be mispredicted half the time.
	v := w + 1<<61
	a, b := math.Float64bits(sin), math.Float64bits(cos)
	swap := (a ^ b) & -(v >> 62 & 1)
	a ^= swap ^ v&signBit
	b ^= swap ^ (v^v<<1)&signBit
	return math.Float64frombits(a), math.Float64frombits(b)
}
