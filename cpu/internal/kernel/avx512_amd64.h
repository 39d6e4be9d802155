// The vocabulary of the shared loops, for AVX-512. K1 and R8 belong to the loop, K2 to SELECT.

#define LANES 16

#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V13 Z13

// A whole register, and the first CX elements of one after SETTAIL.
#define LOAD(m, v) VMOVUPS m, v
#define STORE(v, m) VMOVUPS v, m
#define SETTAIL MOVL $1, R8; SHLL CX, R8; DECL R8; KMOVW R8, K1
#define LOADTAIL(m, v) VMOVUPS.Z m, K1, v
#define STORETAIL(v, m) VMOVUPS v, K1, m

// SELECT sets v to value where a PREDICATE b; b and value may be memory.
#define LESS $1
#define EQUAL $0
#define NOTLESS $5
#define UNORDERED $3
#define ATLEASTIS $29
#define ATMOSTIS $18
#define SELECT(PREDICATE, a, b, value, v) VCMPPS PREDICATE, b, a, K2; VMOVUPS value, K2, v

// KEEP sets v, which is 0, to value where draw is at most V5, as unsigned numbers.
#define KEEP(draw, value, v) VPCMPUD $2, V5, draw, K2; VMOVUPS value, K2, v

// ROUND rounds to the nearest integer, ties to even.
#define ROUND(v) VRNDSCALEPS $8, v, v

// POWER sets v to 2ⁿ, for n a whole number from 0 to 127.
#define POWER(n, v) VMOVUPS ONE, v; VSCALEFPS n, v, v

// SCALE multiplies v by 2ⁿ, rounding once.
#define SCALE(n, v, t, u) VSCALEFPS n, v, v
