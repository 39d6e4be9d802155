// Loops over slices, in the vocabulary of avx2_amd64.h or avx512_amd64.h.
//
//	DI SI DX  dst and the sources
//	CX        elements
//	AX        elements done
//	BX        elements in whole registers

// EACH runs BODY over whole registers and then, once, over what is left; BODY takes the macros to
// load and store with.
#define EACH(BODY) \
	XORL AX, AX           \
	MOVQ CX, BX           \
	ANDQ $~(LANES-1), BX  \
	JZ   tail             \
whole: \
	BODY(LOAD, STORE)     \
	ADDQ $LANES, AX       \
	CMPQ AX, BX           \
	JLT  whole            \
tail: \
	SUBQ BX, CX           \
	JZ   done             \
	SETTAIL               \
	BODY(LOADTAIL, STORETAIL) \
done: \
	VZEROUPPER            \
	RET

#define DST (DI)(AX*4)
#define A (SI)(AX*4)
#define B (DX)(AX*4)

// The frames (dst, a []float32), (dst, a, b []float32), and (dst, a []float32, s float32) with s in V13.
#define UNARY \
	MOVQ dst_base+0(FP), DI  \
	MOVQ dst_len+8(FP), CX   \
	MOVQ a_base+24(FP), SI

#define BINARY \
	UNARY                    \
	MOVQ b_base+48(FP), DX

#define SCALAR \
	UNARY                    \
	VBROADCASTSS s+48(FP), V13
