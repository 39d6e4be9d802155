#include "textflag.h"
#include "reduction_amd64.h"

// Reductions with AVX2, in the order that Dot documents: partial sum i is element i of Y0-Y7.
//
//	SI DX  next elements of a and b
//	CX     elements left

// REDUCE adds 64 elements at a time with TERM, then 8 at a time with TERMTAIL under the mask Y15.
// Elements that the mask leaves out count as zero, which changes no partial sum: none is ever −0.
#define REDUCE(TERM, TERMTAIL) \
	VXORPS Y0, Y0, Y0         \
	VXORPS Y1, Y1, Y1         \
	VXORPS Y2, Y2, Y2         \
	VXORPS Y3, Y3, Y3         \
	VXORPS Y4, Y4, Y4         \
	VXORPS Y5, Y5, Y5         \
	VXORPS Y6, Y6, Y6         \
	VXORPS Y7, Y7, Y7         \
	SUBQ $64, CX              \
	JLT  tail                 \
whole: \
	TERM(0, Y0)               \
	TERM(32, Y1)              \
	TERM(64, Y2)              \
	TERM(96, Y3)              \
	TERM(128, Y4)             \
	TERM(160, Y5)             \
	TERM(192, Y6)             \
	TERM(224, Y7)             \
	ADDQ $256, SI             \
	ADDQ $256, DX             \
	SUBQ $64, CX              \
	JGE  whole                \
tail: \
	ADDQ $64, CX              \
	JZ   fold                 \
	TAIL(0, Y0, TERMTAIL)     \
	TAIL(32, Y1, TERMTAIL)    \
	TAIL(64, Y2, TERMTAIL)    \
	TAIL(96, Y3, TERMTAIL)    \
	TAIL(128, Y4, TERMTAIL)   \
	TAIL(160, Y5, TERMTAIL)   \
	TAIL(192, Y6, TERMTAIL)   \
	TAIL(224, Y7, TERMTAIL)   \
fold: \
	VADDPS Y4, Y0, Y0         \
	VADDPS Y5, Y1, Y1         \
	VADDPS Y6, Y2, Y2         \
	VADDPS Y7, Y3, Y3         \
	VADDPS Y2, Y0, Y0         \
	VADDPS Y3, Y1, Y1         \
	VADDPS Y1, Y0, Y0         \
	FOLD(VADDPS)              \
	VZEROUPPER

// TAIL adds at most 8 of the elements left: max(0, min(8, CX)) of them.
#define TAIL(at, y, TERMTAIL) \
	XORL AX, AX                  \
	TESTQ CX, CX                 \
	CMOVQLT AX, CX               \
	MOVL $8, AX                  \
	CMPQ CX, AX                  \
	CMOVQLT CX, AX               \
	LEAQ ·prefixMask+32(SB), R8  \
	SHLQ $2, AX                  \
	SUBQ AX, R8                  \
	VMOVUPS (R8), Y15            \
	TERMTAIL(at, y)              \
	SUBQ $8, CX

#define PRODUCT(at, y) VMOVUPS at(SI), Y8; VMULPS at(DX), Y8, Y8; VADDPS Y8, y, y
#define PRODUCTTAIL(at, y) VMASKMOVPS at(SI), Y15, Y8; VMASKMOVPS at(DX), Y15, Y9; VMULPS Y9, Y8, Y8; VADDPS Y8, y, y
#define ELEMENT(at, y) VADDPS at(SI), y, y
#define ELEMENTTAIL(at, y) VMASKMOVPS at(SI), Y15, Y8; VADDPS Y8, y, y

// func dotAVX2(a, b []float32) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-52
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVQ b_base+24(FP), DX
	REDUCE(PRODUCT, PRODUCTTAIL)
	MOVSS X0, ret+48(FP)
	RET

// func sumAVX2(a []float32) float32
TEXT ·sumAVX2(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	REDUCE(ELEMENT, ELEMENTTAIL)
	MOVSS X0, ret+24(FP)
	RET

// func maximumAVX2(a []float32) float32
//
// VMAXPS forgets a NaN at the next number, so Y3 remembers whether there was one.
TEXT ·maximumAVX2(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVL $0xff800000, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	VMOVUPS Y0, Y4
	VXORPS Y3, Y3, Y3
	SUBQ $8, CX
	JLT  tail

whole:
	VMOVUPS (SI), Y1
	VCMPPS $3, Y1, Y1, Y2
	VORPS Y2, Y3, Y3
	VMAXPS Y1, Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JGE  whole

tail:
	ADDQ $8, CX
	JZ   fold
	LEAQ ·prefixMask+32(SB), R8
	SHLQ $2, CX
	SUBQ CX, R8
	VMOVUPS (R8), Y15
	VMASKMOVPS (SI), Y15, Y1
	VBLENDVPS Y15, Y1, Y4, Y1 // −Inf where the mask is off
	VCMPPS $3, Y1, Y1, Y2
	VORPS Y2, Y3, Y3
	VMAXPS Y1, Y0, Y0

fold:
	FOLD(VMAXPS)
	VMOVMSKPS Y3, AX
	VZEROUPPER
	TESTL AX, AX
	JZ   number
	MOVL $0x7fc00000, ret+24(FP)
	RET

number:
	MOVSS X0, ret+24(FP)
	RET

// func maxAbsAVX2(a []float32) float32
//
// Twice the bits of a number, which leaves out its sign, order magnitudes as integers.
TEXT ·maxAbsAVX2(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	VPXOR Y0, Y0, Y0
	SUBQ $8, CX
	JLT  tail

whole:
	VMOVDQU (SI), Y1
	VPADDD Y1, Y1, Y1
	VPMAXUD Y1, Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JGE  whole

tail:
	LEAQ ·prefixMask+32(SB), R8
	ADDQ $8, CX
	SHLQ $2, CX
	SUBQ CX, R8
	VMOVDQU (R8), Y15
	VPMASKMOVD (SI), Y15, Y1
	VPADDD Y1, Y1, Y1
	VPMAXUD Y1, Y0, Y0
	FOLD(VPMAXUD)
	VZEROUPPER
	MOVL X0, AX
	SHRL $1, AX
	MOVL AX, ret+24(FP)
	RET
