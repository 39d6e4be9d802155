#include "textflag.h"
#include "reduction_amd64.h"

// Reductions with AVX-512, in the order that Dot documents: partial sum i is element i of Z0-Z3.
//
//	SI DX  next elements of a and b
//	CX     elements left

// REDUCE adds 64 elements at a time with TERM, then those left over. Elements that a mask leaves out
// count as zero, which changes no partial sum: none of them is ever −0.
#define REDUCE(TERM) \
	VXORPS Z0, Z0, Z0         \
	VXORPS Z1, Z1, Z1         \
	VXORPS Z2, Z2, Z2         \
	VXORPS Z3, Z3, Z3         \
	MOVQ $-1, AX              \
	KMOVW AX, K1              \
	KMOVW AX, K2              \
	KMOVW AX, K3              \
	KMOVW AX, K4              \
	SUBQ $64, CX              \
	JLT  tail                 \
whole: \
	TERM(0, K1, Z0)           \
	TERM(64, K2, Z1)          \
	TERM(128, K3, Z2)         \
	TERM(192, K4, Z3)         \
	ADDQ $256, SI             \
	ADDQ $256, DX             \
	SUBQ $64, CX              \
	JGE  whole                \
tail: \
	ADDQ $64, CX              \
	JZ   fold                 \
	SHLQ CX, AX               \
	NOTQ AX                   \
	KMOVW AX, K1              \
	SHRQ $16, AX              \
	KMOVW AX, K2              \
	SHRQ $16, AX              \
	KMOVW AX, K3              \
	SHRQ $16, AX              \
	KMOVW AX, K4              \
	TERM(0, K1, Z0)           \
	TERM(64, K2, Z1)          \
	TERM(128, K3, Z2)         \
	TERM(192, K4, Z3)         \
fold: \
	VADDPS Z2, Z0, Z0         \
	VADDPS Z3, Z1, Z1         \
	VADDPS Z1, Z0, Z0         \
	VEXTRACTF64X4 $1, Z0, Y1  \
	VADDPS Y1, Y0, Y0         \
	FOLD(VADDPS)              \
	VZEROUPPER

#define PRODUCT(at, k, z) VMOVUPS.Z at(SI), k, Z4; VMOVUPS.Z at(DX), k, Z5; VMULPS Z5, Z4, Z4; VADDPS Z4, z, z
#define ELEMENT(at, k, z) VMOVUPS.Z at(SI), k, Z4; VADDPS Z4, z, z

// func dotAVX512(a, b []float32) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-52
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVQ b_base+24(FP), DX
	REDUCE(PRODUCT)
	MOVSS X0, ret+48(FP)
	RET

// func sumAVX512(a []float32) float32
TEXT ·sumAVX512(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	REDUCE(ELEMENT)
	MOVSS X0, ret+24(FP)
	RET

// func maximumAVX512(a []float32) float32
//
// VMAXPS forgets a NaN at the next number, so K3 remembers whether there was one.
TEXT ·maximumAVX512(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVL $0xff800000, AX
	VPBROADCASTD AX, Z0
	VMOVUPS Z0, Z1
	KXORW K3, K3, K3
	SUBQ $16, CX
	JLT  tail

whole:
	VMOVUPS (SI), Z1
	VCMPPS $3, Z1, Z1, K2
	KORW K2, K3, K3
	VMAXPS Z1, Z0, Z0
	ADDQ $64, SI
	SUBQ $16, CX
	JGE  whole

tail:
	ADDQ $16, CX
	JZ   fold
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	VMOVUPS (SI), K1, Z1 // over elements already seen, or −Inf
	VCMPPS $3, Z1, Z1, K2
	KORW K2, K3, K3
	VMAXPS Z1, Z0, Z0

fold:
	VEXTRACTF64X4 $1, Z0, Y1
	VMAXPS Y1, Y0, Y0
	FOLD(VMAXPS)
	VZEROUPPER
	KORTESTW K3, K3
	JZ   number
	MOVL $0x7fc00000, ret+24(FP)
	RET

number:
	MOVSS X0, ret+24(FP)
	RET

// func maxAbsAVX512(a []float32) float32
//
// Twice the bits of a number, which leaves out its sign, order magnitudes as integers.
TEXT ·maxAbsAVX512(SB), NOSPLIT, $0-28
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	VPXORD Z0, Z0, Z0
	SUBQ $16, CX
	JLT  tail

whole:
	VMOVDQU32 (SI), Z1
	VPADDD Z1, Z1, Z1
	VPMAXUD Z1, Z0, Z0
	ADDQ $64, SI
	SUBQ $16, CX
	JGE  whole

tail:
	ADDQ $16, CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	VMOVDQU32.Z (SI), K1, Z1
	VPADDD Z1, Z1, Z1
	VPMAXUD Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPMAXUD Y1, Y0, Y0
	FOLD(VPMAXUD)
	VZEROUPPER
	MOVL X0, AX
	SHRL $1, AX
	MOVL AX, ret+24(FP)
	RET
