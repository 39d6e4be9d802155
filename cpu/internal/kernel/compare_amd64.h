// Bodies of the loops of compare.go and dropout.go: see loop_amd64.h. V13 is the scalar.

// LARGER and SMALLER leave the result of V0 and V1 in V2. VMAXPS and VMINPS return their last operand, of the source's
// order, if one is NaN or both are zeros: both orders together have the right zero, and sums have the NaNs.
#define LARGEROF VMAXPS V0, V1, V2; VMAXPS V1, V0, V3; VANDPS V2, V3, V2; VADDPS V0, V1, V3; SELECT(UNORDERED, V0, V1, V3, V2)
#define SMALLEROF VMINPS V0, V1, V2; VMINPS V1, V0, V3; VORPS V2, V3, V2; VADDPS V0, V1, V3; SELECT(UNORDERED, V0, V1, V3, V2)
#define ONEWHERE(PREDICATE) VXORPS V2, V2, V2; SELECT(PREDICATE, V0, V1, ONE, V2)

#define LARGER(LOAD, STORE) LOAD(A, V0); LOAD(B, V1); LARGEROF; STORE(V2, DST)
#define SMALLER(LOAD, STORE) LOAD(A, V0); LOAD(B, V1); SMALLEROF; STORE(V2, DST)
#define ATLEAST(LOAD, STORE) LOAD(A, V0); LOAD(B, V1); ONEWHERE(ATLEASTIS); STORE(V2, DST)

#define LARGERSCALAR(LOAD, STORE) LOAD(A, V0); VMOVAPS V13, V1; LARGEROF; STORE(V2, DST)
#define SMALLERSCALAR(LOAD, STORE) LOAD(A, V0); VMOVAPS V13, V1; SMALLEROF; STORE(V2, DST)
#define ATLEASTSCALAR(LOAD, STORE) LOAD(A, V0); VMOVAPS V13, V1; ONEWHERE(ATLEASTIS); STORE(V2, DST)
#define ATMOSTSCALAR(LOAD, STORE) LOAD(A, V0); VMOVAPS V13, V1; ONEWHERE(ATMOSTIS); STORE(V2, DST)

// The frame (dst, a []float32, draws []uint64, maximum uint32, keep float32), with maximum in V5 and keep in V13. An
// element is kept if the larger of its draw and maximum, as unsigned numbers, is maximum.
#define DRAWN \
	BINARY                             \
	VPBROADCASTD maximum+72(FP), V5    \
	VBROADCASTSS keep+76(FP), V13

#define KEPT(LOAD) LOAD(A, V0); VDIVPS V13, V0, V0; LOAD(B, V1); VXORPS V2, V2, V2; KEEP(V1, V0, V2)
#define DROPOUT(LOAD, STORE) KEPT(LOAD); STORE(V2, DST)
#define ADDDROPOUT(LOAD, STORE) KEPT(LOAD); LOAD(DST, V1); VADDPS V2, V1, V1; STORE(V1, DST)
