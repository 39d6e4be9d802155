// The vocabulary of the shared loops, for AVX2. V15 and R8 belong to the loop, V14 to SELECT.

#define LANES 8

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V13 Y13

// A whole register, and the first CX elements of one after SETTAIL.
#define LOAD(m, v) VMOVUPS m, v
#define STORE(v, m) VMOVUPS v, m
#define SETTAIL LEAQ ·prefixMask+32(SB), R8; SHLQ $2, CX; SUBQ CX, R8; VMOVUPS (R8), Y15
#define LOADTAIL(m, v) VMASKMOVPS m, Y15, v
#define STORETAIL(v, m) VMASKMOVPS v, Y15, m

// SELECT sets v to value where a PREDICATE b; b and value may be memory.
#define LESS $1
#define EQUAL $0
#define NOTLESS $5
#define UNORDERED $3
#define ATLEASTIS $29
#define ATMOSTIS $18
#define SELECT(PREDICATE, a, b, value, v) VCMPPS PREDICATE, b, a, Y14; VBLENDVPS Y14, value, v, v

// KEEP sets v, which is 0, to value where draw is at most V5, as unsigned numbers.
#define KEEP(draw, value, v) VPMAXUD draw, V5, v; VPCMPEQD v, V5, v; VANDPS value, v, v

// ROUND rounds to the nearest integer, ties to even.
#define ROUND(v) VROUNDPS $8, v, v

// POWER sets v to 2ⁿ, for n a whole number from 0 to 127.
#define POWER(n, v) VCVTPS2DQ n, v; VPADDD BIAS, v, v; VPSLLD $23, v, v

// SCALE multiplies v by 2ⁿ, for n a whole number from −252 to 254, rounding once. The two halves of n
// keep every factor a normal number, and the first product exact.
#define SCALE(n, v, t, u) \
	VCVTPS2DQ n, t     \
	VPSRAD $1, t, u    \
	VPSUBD u, t, t     \
	VPADDD BIAS, t, t  \
	VPADDD BIAS, u, u  \
	VPSLLD $23, t, t   \
	VPSLLD $23, u, u   \
	VMULPS u, v, v     \
	VMULPS t, v, v
