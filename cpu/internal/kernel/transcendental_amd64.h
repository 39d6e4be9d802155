// Exponential, hyperbolic tangent, sigmoid and logarithm: bodies for the loops in loop_amd64.h.
// Polynomials are those of expf.c and logf.c in Stephen Moshier's Cephes Mathematical Library, release
// 2.2, evaluated with fused multiply-adds.

CONSTANT(log2e, $0x3fb8aa3b)     // 1/ln 2
CONSTANT(ln2hi, $0x3f318000)     // ln 2 in two parts: 0.693359375
CONSTANT(ln2lo, $0xb95e8083)     // and −2.12194440e-4
CONSTANT(expmax, $0x42b20000)    // 89: exp overflows
CONSTANT(expmin, $0xc2d00000)    // −104: exp rounds to zero
CONSTANT(tanhmax, $0x41200000)   // 10: tanh rounds to one
CONSTANT(two, $0x40000000)
CONSTANT(exp0, $0x39506967)      // 1.9875691500e-4
CONSTANT(exp1, $0x3ab743ce)      // 1.3981999507e-3
CONSTANT(exp2, $0x3c088908)      // 8.3334519073e-3
CONSTANT(exp3, $0x3d2aa9c1)      // 4.1665795894e-2
CONSTANT(exp4, $0x3e2aaaaa)      // 1.6666665459e-1
CONSTANT(exp5, $0x3f000000)      // 5.0000001201e-1

// REDUCE splits V0 into n·ln 2 + r, |r| ≤ (ln 2)/2, and leaves n in V1 and exp(r) − 1 in V2.
#define REDUCE \
	VMULPS log2e<>(SB), V0, V1        \
	ROUND(V1)                         \
	VFNMADD231PS ln2hi<>(SB), V1, V0  \
	VFNMADD231PS ln2lo<>(SB), V1, V0  \
	VMOVUPS exp0<>(SB), V2            \
	VFMADD213PS exp1<>(SB), V0, V2    \
	VFMADD213PS exp2<>(SB), V0, V2    \
	VFMADD213PS exp3<>(SB), V0, V2    \
	VFMADD213PS exp4<>(SB), V0, V2    \
	VFMADD213PS exp5<>(SB), V0, V2    \
	VMULPS V0, V0, V3                 \
	VFMADD213PS V0, V3, V2

// ATMOST and ATLEAST bound V0, leaving NaN: where an operand is NaN, the second source is the result.
#define ATMOST(bound) VMOVUPS bound, V1; VMINPS V0, V1, V0
#define ATLEAST(bound) VMOVUPS bound, V1; VMAXPS V0, V1, V0

// EXPONENTIAL leaves exp(V0) in V2.
#define EXPONENTIAL \
	REDUCE               \
	VADDPS ONE, V2, V2   \
	SCALE(V1, V2, V3, V4)

#define EXP(LOAD, STORE) \
	LOAD(A, V0)            \
	ATMOST(expmax<>(SB))   \
	ATLEAST(expmin<>(SB))  \
	EXPONENTIAL            \
	STORE(V2, DST)

// tanh|x| = e/(e + 2) with e = exp(2|x|) − 1 = 2ⁿ·(exp(r) − 1) + (2ⁿ − 1): no cancellation near zero.
#define TANH(LOAD, STORE) \
	LOAD(A, V0)            \
	VANDPS SIGN, V0, V5    \
	VXORPS V5, V0, V0      \
	ATMOST(tanhmax<>(SB))  \
	VADDPS V0, V0, V0      \
	REDUCE                 \
	POWER(V1, V3)          \
	VSUBPS ONE, V3, V4     \
	VFMADD213PS V4, V3, V2 \
	VADDPS two<>(SB), V2, V3 \
	VDIVPS V3, V2, V2      \
	VORPS V5, V2, V2       \
	STORE(V2, DST)

// With e = exp(−|x|), which can't overflow: 1/(1 + e) from zero up, e/(1 + e) below.
#define SIGMOID(LOAD, STORE) \
	LOAD(A, V5)            \
	VORPS SIGN, V5, V0     \
	ATLEAST(expmin<>(SB))  \
	EXPONENTIAL            \
	VMOVUPS ONE, V3        \
	VADDPS V2, V3, V4      \
	SELECT(LESS, V5, zero<>(SB), V2, V3) \
	VDIVPS V4, V3, V3      \
	STORE(V3, DST)

CONSTANT(zero, $0)
CONSTANT(half, $0x3f000000)
CONSTANT(normal, $0x00800000)    // 2⁻¹²⁶, the least normal number
CONSTANT(twoto25, $0x4c000000)
CONSTANT(minus25, $0xc1c80000)
CONSTANT(sqrthalf, $0x3f3504f3)  // the bits of √½
CONSTANT(fraction, $0x007fffff)
CONSTANT(infinity, $0x7f800000)
CONSTANT(minusinf, $0xff800000)
CONSTANT(nan, $0x7fc00000)
CONSTANT(log0, $0x3d9021bb)      //  7.0376836292e-2
CONSTANT(log1, $0xbdebd1b8)      // −1.1514610310e-1
CONSTANT(log2, $0x3def251a)      //  1.1676998740e-1
CONSTANT(log3, $0xbdfe5d4f)      // −1.2420140846e-1
CONSTANT(log4, $0x3e11e9bf)      //  1.4249322787e-1
CONSTANT(log5, $0xbe2aae50)      // −1.6668057665e-1
CONSTANT(log6, $0x3e4cceac)      //  2.0000714765e-1
CONSTANT(log7, $0xbe7ffffc)      // −2.4999993993e-1
CONSTANT(log8, $0x3eaaaaaa)      //  3.3333331174e-1

// x = 2ᵉ·(1 + f) with √½ ≤ 1 + f < √2, taken from x's bits; denormal x is scaled to be normal first.
// ln x = f − f²/2 + f³·P(f) + e·ln 2.
#define LOG(LOAD, STORE) \
	LOAD(A, V5)                       \
	VMOVUPS V5, V0                    \
	VXORPS V1, V1, V1                 \
	VMULPS twoto25<>(SB), V5, V2      \
	SELECT(LESS, V5, normal<>(SB), V2, V0) \
	SELECT(LESS, V5, normal<>(SB), minus25<>(SB), V1) \
	VPSUBD sqrthalf<>(SB), V0, V2     \
	VPSRAD $23, V2, V3                \
	VCVTDQ2PS V3, V3                  \
	VADDPS V1, V3, V3                 \ // e
	VANDPS fraction<>(SB), V2, V2     \
	VPADDD sqrthalf<>(SB), V2, V2     \
	VSUBPS ONE, V2, V0                \ // f
	VMULPS V0, V0, V2                 \ // f²
	VMOVUPS log0<>(SB), V4            \
	VFMADD213PS log1<>(SB), V0, V4    \
	VFMADD213PS log2<>(SB), V0, V4    \
	VFMADD213PS log3<>(SB), V0, V4    \
	VFMADD213PS log4<>(SB), V0, V4    \
	VFMADD213PS log5<>(SB), V0, V4    \
	VFMADD213PS log6<>(SB), V0, V4    \
	VFMADD213PS log7<>(SB), V0, V4    \
	VFMADD213PS log8<>(SB), V0, V4    \
	VMULPS V0, V4, V4                 \
	VMULPS V2, V4, V4                 \
	VFMADD231PS ln2lo<>(SB), V3, V4   \
	VFNMADD231PS half<>(SB), V2, V4   \
	VADDPS V4, V0, V0                 \
	VFMADD231PS ln2hi<>(SB), V3, V0   \
	SELECT(NOTLESS, V5, infinity<>(SB), V5, V0) \ // NaN too
	SELECT(LESS, V5, zero<>(SB), nan<>(SB), V0) \
	SELECT(EQUAL, V5, zero<>(SB), minusinf<>(SB), V0) \
	STORE(V0, DST)
