#include "textflag.h"
#include "gemm_amd64.h"

// Matrix products and sums of outer products with AVX2 and FMA: see gemm_amd64.h. A block of 4×3 registers of sums, a
// row of B and a broadcast use all sixteen.
//
//	Y0-Y11   sums, row after row
//	Y12-Y14  row l of the B panel; before and after the steps of an outer sum magic in Y12, the old C in Y13
//	Y15      mask of the last register, or broadcast element of A

#define MASKED(at, y) VMOVUPS (R15), Y15; VMASKMOVPS at(DX), Y15, y
#define LOAD1 MASKED(0, Y12)
#define LOAD2 VMOVUPS (DX), Y12; MASKED(32, Y13)
#define LOAD3 VMOVUPS (DX), Y12; VMOVUPS 32(DX), Y13; MASKED(64, Y14)

#define ZERO1(a, c0) VXORPS c0, c0, c0
#define ZERO2(a, c0, c1) ZERO1(a, c0); VXORPS c1, c1, c1
#define ZERO3(a, c0, c1, c2) ZERO2(a, c0, c1); VXORPS c2, c2, c2

#define MADD1(a, c0) VBROADCASTSS a, Y15; VFMADD231PS Y12, Y15, c0
#define MADD2(a, c0, c1) MADD1(a, c0); VFMADD231PS Y13, Y15, c1
#define MADD3(a, c0, c1, c2) MADD2(a, c0, c1); VFMADD231PS Y14, Y15, c2

#define MASK VMOVUPS (R15), Y15
#define OLDLAST(at, c) VMASKMOVPS at(DX), Y15, c; ADDQ CX, DX
#define OLD1(a, c0) OLDLAST(0, c0)
#define OLD2(a, c0, c1) VMOVUPS (DX), c0; OLDLAST(32, c1)
#define OLD3(a, c0, c1, c2) VMOVUPS (DX), c0; VMOVUPS 32(DX), c1; OLDLAST(64, c2)

#define STORELAST(at, c) VMASKMOVPS c, Y15, at(DI); ADDQ CX, DI
#define STORE1(a, c0) STORELAST(0, c0)
#define STORE2(a, c0, c1) VMOVUPS c0, (DI); STORELAST(32, c1)
#define STORE3(a, c0, c1, c2) VMOVUPS c0, (DI); VMOVUPS c1, 32(DI); STORELAST(64, c2)

// The sums of a block of r rows and v registers: EACHrxv.
#define EACH1x1(DO) DO(A0, Y0)
#define EACH2x1(DO) EACH1x1(DO); DO(A1, Y1)
#define EACH4x1(DO) EACH2x1(DO); DO(A2, Y2); DO(A3, Y3)

#define EACH1x2(DO) DO(A0, Y0, Y1)
#define EACH2x2(DO) EACH1x2(DO); DO(A1, Y2, Y3)
#define EACH4x2(DO) EACH2x2(DO); DO(A2, Y4, Y5); DO(A3, Y6, Y7)

#define EACH1x3(DO) DO(A0, Y0, Y1, Y2)
#define EACH2x3(DO) EACH1x3(DO); DO(A1, Y3, Y4, Y5)
#define EACH4x3(DO) EACH2x3(DO); DO(A2, Y6, Y7, Y8); DO(A3, Y9, Y10, Y11)

#define MAGIC VBROADCASTSS magic+16(FP), Y12

// An outer sum's functions keep the control register in control, and restore it at the end. A signal
// handler has a control register of its own.
#define KEEPROUNDING \
	STMXCSR control-4(SP)    \
	MOVL control-4(SP), AX   \
	ANDL $~0x6000, AX        \
	ORL  $0x2000, AX         \
	MOVL AX, down-8(SP)      \
	XORL $0x6000, AX         \
	MOVL AX, up-12(SP)
#define ROUNDDOWN LDMXCSR down-8(SP)
#define ROUNDUP LDMXCSR up-12(SP)
#define DOWN1 MADD1
#define DOWN2 MADD2
#define DOWN3 MADD3
#define UP1 MADD1
#define UP2 MADD2
#define UP3 MADD3

#define FETCH1(a, c0) PREFETCHT0 (DX); ADDQ CX, DX
#define FETCH2(a, c0, c1) FETCH1(a, c0)
#define FETCH3(a, c0, c1, c2) PREFETCHT0 64(DX); FETCH1(a, c0)

#define START1(a, c0) VMOVAPS Y12, c0
#define START2(a, c0, c1) START1(a, c0); VMOVAPS Y12, c1
#define START3(a, c0, c1, c2) START2(a, c0, c1); VMOVAPS Y12, c2

#define ADDTO(at, c) VPSUBD Y12, c, c; VPADDD at(DX), c, c
#define ADDLAST(at, c) VPMASKMOVD at(DX), Y15, Y13; VPSUBD Y12, c, c; VPADDD Y13, c, c; ADDQ CX, DX
#define ADD1(a, c0) ADDLAST(0, c0)
#define ADD2(a, c0, c1) ADDTO(0, c0); ADDLAST(32, c1)
#define ADD3(a, c0, c1, c2) ADDTO(0, c0); ADDTO(32, c1); ADDLAST(64, c2)

#define PANEL(EACH4, EACH2, EACH1, BEGIN, RUN, END) \
	LEAQ ·prefixMask+32(SB), R15 \
	SHLQ $2, CX                  \
	SUBQ CX, R15                 \
	BLOCKS(4, EACH4, BEGIN, RUN, END, block4, begun4, step4, turn4, again4, through4, block2) \
	BLOCKS(2, EACH2, BEGIN, RUN, END, block2, begun2, step2, turn2, again2, through2, block1) \
	BLOCKS(1, EACH1, BEGIN, RUN, END, block1, begun1, step1, turn1, again1, through1, done) \
done: \
	VZEROUPPER

TEXT ·gemmPanel1AVX2(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH4x1, EACH2x1, EACH1x1, BEGIN1, RUN1, END1)
	RET

TEXT ·addOuter1AVX2(SB), NOSPLIT, $16-96
	KEEPROUNDING
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	PANEL(EACH4x1, EACH2x1, EACH1x1, BEGINOUTER1, RUNOUTER1, ENDOUTER1)
	LDMXCSR control-4(SP)
	RET

TEXT ·gemmPanel2AVX2(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH4x2, EACH2x2, EACH1x2, BEGIN2, RUN2, END2)
	RET

TEXT ·addOuter2AVX2(SB), NOSPLIT, $16-96
	KEEPROUNDING
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	PANEL(EACH4x2, EACH2x2, EACH1x2, BEGINOUTER2, RUNOUTER2, ENDOUTER2)
	LDMXCSR control-4(SP)
	RET

TEXT ·gemmPanel3AVX2(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH4x3, EACH2x3, EACH1x3, BEGIN3, RUN3, END3)
	RET

TEXT ·addOuter3AVX2(SB), NOSPLIT, $16-96
	KEEPROUNDING
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	PANEL(EACH4x3, EACH2x3, EACH1x3, BEGINOUTER3, RUNOUTER3, ENDOUTER3)
	LDMXCSR control-4(SP)
	RET
