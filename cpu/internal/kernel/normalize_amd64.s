#include "textflag.h"
#include "reduction_amd64.h"

// Normalisation of rows with AVX-512, bit for bit as rowLoops does it: partial sum i of a row is element i of Z0-Z3, of
// a second sum Z4-Z7.
//
//	DI SI DX  the rows of the result, of x and, on the way back, of dy
//	R9        rows left
//	R10 R11   groups of 64 elements of a row; elements after them
//	R12       bytes of a row
//	K1-K4     masks of the elements after the groups
//	X28       the number that is added to the variance
//	X29       the number of elements of a row
//	X31       1

// SWEEP runs WHOLE over the whole groups of 64 elements of a row and TAIL over what is left, at offset AX.
#define SWEEP(WHOLE, TAIL, whole, tail, end) \
	XORL AX, AX               \
	MOVQ R10, CX              \
	TESTQ CX, CX              \
	JZ   tail                 \
whole: \
	WHOLE                     \
	ADDQ $256, AX             \
	DECQ CX                   \
	JNZ  whole                \
tail: \
	TESTQ R11, R11            \
	JZ   end                  \
	TAIL                      \
end:

#define ZERO4(z0, z1, z2, z3) VPXORD z0, z0, z0; VPXORD z1, z1, z1; VPXORD z2, z2, z2; VPXORD z3, z3, z3

// FOLDROW leaves the sum of the elements of z0 to z3, which are the partial sums, in x0; y0 and x0 are parts of z0.
#define FOLDROW(z0, z1, z2, z3, y0, x0) \
	VADDPS z2, z0, z0               \
	VADDPS z3, z1, z1               \
	VADDPS z1, z0, z0               \
	VEXTRACTF64X4 $1, z0, Y8        \
	VADDPS Y8, y0, y0               \
	VEXTRACTF128 $1, y0, X8         \
	VADDPS X8, x0, x0               \
	VPERMILPD $1, x0, X8            \
	VADDPS X8, x0, x0               \
	VMOVSHDUP x0, X8                \
	VADDPS X8, x0, x0

// MASKS sets R10, R11, R12 and K1 to K4 for rows of CX elements.
#define MASKS \
	MOVQ CX, R10              \
	SHRQ $6, R10              \
	MOVQ CX, R11              \
	ANDQ $63, R11             \
	LEAQ (CX*4), R12          \
	VCVTSI2SSQ CX, X29, X29   \
	MOVL $0x3f800000, AX      \
	VMOVD AX, X31             \
	MOVQ R11, CX              \
	MOVQ $-1, AX              \
	SHLQ CX, AX               \
	NOTQ AX                   \
	KMOVW AX, K1              \
	SHRQ $16, AX              \
	KMOVW AX, K2              \
	SHRQ $16, AX              \
	KMOVW AX, K3              \
	SHRQ $16, AX              \
	KMOVW AX, K4

// EACH4 applies a macro to the four registers of a group: offset, mask, first and second sum. LEFT applies it to those
// that hold what is left after the groups.
#define EACH4(DO) DO(0, K1, Z0, Z4); DO(64, K2, Z1, Z5); DO(128, K3, Z2, Z6); DO(192, K4, Z3, Z7)
#define LEFT(DO, end) \
	DO(0, K1, Z0, Z4)   \
	CMPQ R11, $16       \
	JLE  end            \
	DO(64, K2, Z1, Z5)  \
	CMPQ R11, $32       \
	JLE  end            \
	DO(128, K3, Z2, Z6) \
	CMPQ R11, $48       \
	JLE  end            \
	DO(192, K4, Z3, Z7)

#define SUMX(at, k, s, t) VADDPS at(SI)(AX*1), s, s
#define SUMXTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VADDPS Z8, s, s

// Z30 is the mean of x, here and below.
#define SQUARES(at, k, s, t) VMOVUPS at(SI)(AX*1), Z8; VSUBPS Z30, Z8, Z8; VMULPS Z8, Z8, Z8; VADDPS Z8, s, s
#define SQUARESTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VSUBPS.Z Z30, Z8, k, Z8; VMULPS Z8, Z8, Z8; VADDPS Z8, s, s

// The differences are computed again: a masked store can't be read back at once.
#define TIMES(at, k, s, t) VMOVUPS at(SI)(AX*1), Z8; VSUBPS Z30, Z8, Z8; VMULPS Z8, Z27, Z8; VMOVUPS Z8, at(DI)(AX*1)
#define TIMESTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VSUBPS Z30, Z8, Z8; VMULPS Z8, Z27, Z8; VMOVUPS Z8, k, at(DI)(AX*1)

// INVERSE leaves 1/√(X0/X29 + X28) in X27, NaN if that is infinite.
#define INVERSE \
	VDIVSS X29, X0, X0        \
	VADDSS X28, X0, X0        \
	VSQRTSS X0, X0, X27       \
	VDIVSS X27, X31, X27      \
	VSUBSS X0, X0, X0         \
	VADDSS X0, X27, X27

// func normalizeRows(dst, a *float32, rows, cols int, add float32), with at least one row and one column
TEXT ·normalizeRows(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ rows+16(FP), R9
	MOVQ cols+24(FP), CX
	VMOVSS add+32(FP), X28
	MASKS

row:
	ZERO4(Z0, Z1, Z2, Z3)
	SWEEP(EACH4(SUMX), LEFT(SUMXTAIL, sumEnd), sumWhole, sumTail, sumEnd)
	FOLDROW(Z0, Z1, Z2, Z3, Y0, X0)
	VDIVSS X29, X0, X0
	VBROADCASTSS X0, Z30
	ZERO4(Z0, Z1, Z2, Z3)
	SWEEP(EACH4(SQUARES), LEFT(SQUARESTAIL, squaresEnd), squaresWhole, squaresTail, squaresEnd)
	FOLDROW(Z0, Z1, Z2, Z3, Y0, X0)
	INVERSE
	VBROADCASTSS X27, Z27
	SWEEP(EACH4(TIMES), LEFT(TIMESTAIL, timesEnd), timesWhole, timesTail, timesEnd)
	ADDQ R12, SI
	ADDQ R12, DI
	DECQ R9
	JNZ  row
	VZEROUPPER
	RET

#define SUMBOTH(at, k, s, t) VADDPS at(SI)(AX*1), s, s; VADDPS at(DX)(AX*1), t, t
#define SUMBOTHTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VADDPS Z8, s, s; VMOVUPS.Z at(DX)(AX*1), k, Z9; VADDPS Z9, t, t

#define ALONG(at, k, s, t) VMOVUPS at(SI)(AX*1), Z8; VSUBPS Z30, Z8, Z8; VMULPS at(DX)(AX*1), Z8, Z9; VMULPS Z8, Z8, Z8; VADDPS Z8, s, s; VADDPS Z9, t, t
#define ALONGTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VSUBPS.Z Z30, Z8, k, Z8; VMOVUPS.Z at(DX)(AX*1), k, Z9; VMULPS Z9, Z8, Z9; VMULPS Z8, Z8, Z8; VADDPS Z8, s, s; VADDPS Z9, t, t

// Z26 is the mean of dy, Z25 what the differences of x are multiplied by, Z27 the inverse of the deviation.
#define TURN \
	VSUBPS Z30, Z8, Z8        \
	VSUBPS Z26, Z9, Z9        \
	VMULPS Z25, Z8, Z8        \
	VADDPS Z8, Z9, Z8         \
	VMULPS Z27, Z8, Z8
#define BACK(at, k, s, t) VMOVUPS at(SI)(AX*1), Z8; VMOVUPS at(DX)(AX*1), Z9; TURN; VMOVUPS Z8, at(DI)(AX*1)
#define BACKTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VMOVUPS.Z at(DX)(AX*1), k, Z9; TURN; VMOVUPS Z8, k, at(DI)(AX*1)
#define ADDBACK(at, k, s, t) VMOVUPS at(SI)(AX*1), Z8; VMOVUPS at(DX)(AX*1), Z9; TURN; VADDPS at(DI)(AX*1), Z8, Z8; VMOVUPS Z8, at(DI)(AX*1)
#define ADDBACKTAIL(at, k, s, t) VMOVUPS.Z at(SI)(AX*1), k, Z8; VMOVUPS.Z at(DX)(AX*1), k, Z9; TURN; VMOVUPS.Z at(DI)(AX*1), k, Z9; VADDPS Z9, Z8, Z8; VMOVUPS Z8, k, at(DI)(AX*1)

// func normalizeRowsBack(dst, dy, x *float32, rows, cols int, add float32, accumulate bool), likewise
TEXT ·normalizeRowsBack(SB), NOSPLIT, $0-45
	MOVQ dst+0(FP), DI
	MOVQ dy+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ rows+24(FP), R9
	MOVQ cols+32(FP), CX
	VMOVSS add+40(FP), X28
	MOVBQZX accumulate+44(FP), R13
	MASKS
	MOVL $0x80000000, AX
	VMOVD AX, X24

row:
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	SWEEP(EACH4(SUMBOTH), LEFT(SUMBOTHTAIL, sumEnd), sumWhole, sumTail, sumEnd)
	FOLDROW(Z0, Z1, Z2, Z3, Y0, X0)
	FOLDROW(Z4, Z5, Z6, Z7, Y4, X4)
	VDIVSS X29, X0, X0
	VDIVSS X29, X4, X4
	VBROADCASTSS X0, Z30
	VBROADCASTSS X4, Z26
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	SWEEP(EACH4(ALONG), LEFT(ALONGTAIL, alongEnd), alongWhole, alongTail, alongEnd)
	FOLDROW(Z0, Z1, Z2, Z3, Y0, X0)
	FOLDROW(Z4, Z5, Z6, Z7, Y4, X4)
	INVERSE
	VDIVSS X29, X4, X4
	VMULSS X27, X4, X4
	VMULSS X27, X4, X4
	VXORPS X24, X4, X4
	VBROADCASTSS X4, Z25
	VBROADCASTSS X27, Z27
	TESTQ R13, R13
	JNZ  adds
	SWEEP(EACH4(BACK), LEFT(BACKTAIL, backEnd), backWhole, backTail, backEnd)
	JMP  next

adds:
	SWEEP(EACH4(ADDBACK), LEFT(ADDBACKTAIL, addsEnd), addsWhole, addsTail, addsEnd)

next:
	ADDQ R12, SI
	ADDQ R12, DX
	ADDQ R12, DI
	DECQ R9
	JNZ  row
	VZEROUPPER
	RET
