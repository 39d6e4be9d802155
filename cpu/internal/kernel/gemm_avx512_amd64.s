#include "textflag.h"
#include "gemm_amd64.h"

// Matrix products and sums of outer products with AVX-512: see gemm_amd64.h. A block of 8×3 registers of sums leaves
// room for a row of B and a broadcast, and its 24 independent chains more than cover two multiply-adds a cycle at a
// latency of four.
//
//	Z0-Z23   sums, row after row
//	Z24-Z26  row l of the B panel
//	Z27      broadcast element of A; then the old C of an outer sum
//	Z28      magic of an outer sum
//	K1       mask of the last register

#define LOAD1 VMOVUPS.Z (DX), K1, Z24
#define LOAD2 VMOVUPS (DX), Z24; VMOVUPS.Z 64(DX), K1, Z25
#define LOAD3 VMOVUPS (DX), Z24; VMOVUPS 64(DX), Z25; VMOVUPS.Z 128(DX), K1, Z26

#define ZERO1(a, c0) VPXORD c0, c0, c0
#define ZERO2(a, c0, c1) ZERO1(a, c0); VPXORD c1, c1, c1
#define ZERO3(a, c0, c1, c2) ZERO2(a, c0, c1); VPXORD c2, c2, c2

#define MADD1(a, c0) VBROADCASTSS a, Z27; VFMADD231PS Z24, Z27, c0
#define MADD2(a, c0, c1) MADD1(a, c0); VFMADD231PS Z25, Z27, c1
#define MADD3(a, c0, c1, c2) MADD2(a, c0, c1); VFMADD231PS Z26, Z27, c2

#define MASK
#define OLDLAST(at, c) VMOVUPS.Z at(DX), K1, c; ADDQ CX, DX
#define OLD1(a, c0) OLDLAST(0, c0)
#define OLD2(a, c0, c1) VMOVUPS (DX), c0; OLDLAST(64, c1)
#define OLD3(a, c0, c1, c2) VMOVUPS (DX), c0; VMOVUPS 64(DX), c1; OLDLAST(128, c2)

#define STORELAST(at, c) VMOVUPS c, K1, at(DI); ADDQ CX, DI
#define STORE1(a, c0) STORELAST(0, c0)
#define STORE2(a, c0, c1) VMOVUPS c0, (DI); STORELAST(64, c1)
#define STORE3(a, c0, c1, c2) VMOVUPS c0, (DI); VMOVUPS c1, 64(DI); STORELAST(128, c2)

// The sums of a block of r rows and v registers: EACHrxv.
#define EACH1x1(DO) DO(A0, Z0)
#define EACH2x1(DO) EACH1x1(DO); DO(A1, Z1)
#define EACH4x1(DO) EACH2x1(DO); DO(A2, Z2); DO(A3, Z3)
#define EACH8x1(DO) EACH4x1(DO); DO(A4, Z4); DO(A5, Z5); DO(A6, Z6); DO(A7, Z7)

#define EACH1x2(DO) DO(A0, Z0, Z1)
#define EACH2x2(DO) EACH1x2(DO); DO(A1, Z2, Z3)
#define EACH4x2(DO) EACH2x2(DO); DO(A2, Z4, Z5); DO(A3, Z6, Z7)
#define EACH8x2(DO) EACH4x2(DO); DO(A4, Z8, Z9); DO(A5, Z10, Z11); DO(A6, Z12, Z13); DO(A7, Z14, Z15)

#define EACH1x3(DO) DO(A0, Z0, Z1, Z2)
#define EACH2x3(DO) EACH1x3(DO); DO(A1, Z3, Z4, Z5)
#define EACH4x3(DO) EACH2x3(DO); DO(A2, Z6, Z7, Z8); DO(A3, Z9, Z10, Z11)
#define EACH8x3(DO) EACH4x3(DO); DO(A4, Z12, Z13, Z14); DO(A5, Z15, Z16, Z17); DO(A6, Z18, Z19, Z20); DO(A7, Z21, Z22, Z23)

// The instructions of an outer sum round down or up by themselves, and Z28 keeps magic.
#define ROUNDDOWN
#define ROUNDUP
#define MAGIC
#define DOWN1(a, c0) VBROADCASTSS a, Z27; VFMADD231PS.RD_SAE Z24, Z27, c0
#define DOWN2(a, c0, c1) DOWN1(a, c0); VFMADD231PS.RD_SAE Z25, Z27, c1
#define DOWN3(a, c0, c1, c2) DOWN2(a, c0, c1); VFMADD231PS.RD_SAE Z26, Z27, c2
#define UP1(a, c0) VBROADCASTSS a, Z27; VFMADD231PS.RU_SAE Z24, Z27, c0
#define UP2(a, c0, c1) UP1(a, c0); VFMADD231PS.RU_SAE Z25, Z27, c1
#define UP3(a, c0, c1, c2) UP2(a, c0, c1); VFMADD231PS.RU_SAE Z26, Z27, c2

#define FETCH1(a, c0) PREFETCHT0 (DX); ADDQ CX, DX
#define FETCH2(a, c0, c1) PREFETCHT0 64(DX); FETCH1(a, c0)
#define FETCH3(a, c0, c1, c2) PREFETCHT0 128(DX); FETCH2(a, c0, c1)

#define START1(a, c0) VMOVAPS Z28, c0
#define START2(a, c0, c1) START1(a, c0); VMOVAPS Z28, c1
#define START3(a, c0, c1, c2) START2(a, c0, c1); VMOVAPS Z28, c2

#define ADDTO(at, c) VPSUBD Z28, c, c; VPADDD at(DX), c, c
#define ADDLAST(at, c) VMOVDQU32.Z at(DX), K1, Z27; VPSUBD Z28, c, c; VPADDD Z27, c, c; ADDQ CX, DX
#define ADD1(a, c0) ADDLAST(0, c0)
#define ADD2(a, c0, c1) ADDTO(0, c0); ADDLAST(64, c1)
#define ADD3(a, c0, c1, c2) ADDTO(0, c0); ADDTO(64, c1); ADDLAST(128, c2)

#define PANEL(EACH8, EACH4, EACH2, EACH1, BEGIN, RUN, END) \
	MOVL $1, AX              \
	SHLL CX, AX              \
	DECL AX                  \
	KMOVW AX, K1             \
	BLOCKS(8, EACH8, BEGIN, RUN, END, block8, begun8, step8, turn8, again8, through8, block4) \
	BLOCKS(4, EACH4, BEGIN, RUN, END, block4, begun4, step4, turn4, again4, through4, block2) \
	BLOCKS(2, EACH2, BEGIN, RUN, END, block2, begun2, step2, turn2, again2, through2, block1) \
	BLOCKS(1, EACH1, BEGIN, RUN, END, block1, begun1, step1, turn1, again1, through1, done) \
done: \
	VZEROUPPER               \
	RET

TEXT ·gemmPanel1AVX512(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH8x1, EACH4x1, EACH2x1, EACH1x1, BEGIN1, RUN1, END1)

TEXT ·addOuter1AVX512(SB), NOSPLIT, $0-96
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	VBROADCASTSS magic+16(FP), Z28
	PANEL(EACH8x1, EACH4x1, EACH2x1, EACH1x1, BEGINOUTER1, RUNOUTER1, ENDOUTER1)

TEXT ·gemmPanel2AVX512(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH8x2, EACH4x2, EACH2x2, EACH1x2, BEGIN2, RUN2, END2)

TEXT ·addOuter2AVX512(SB), NOSPLIT, $0-96
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	VBROADCASTSS magic+16(FP), Z28
	PANEL(EACH8x2, EACH4x2, EACH2x2, EACH1x2, BEGINOUTER2, RUNOUTER2, ENDOUTER2)

TEXT ·gemmPanel3AVX512(SB), NOSPLIT, $0-88
	ARGUMENTS(a, aRow, aStep, b, ldb, c)
	PANEL(EACH8x3, EACH4x3, EACH2x3, EACH1x3, BEGIN3, RUN3, END3)

TEXT ·addOuter3AVX512(SB), NOSPLIT, $0-96
	ARGUMENTS(x, xRow, xStep, y, ldy, sum)
	VBROADCASTSS magic+16(FP), Z28
	PANEL(EACH8x3, EACH4x3, EACH2x3, EACH1x3, BEGINOUTER3, RUNOUTER3, ENDOUTER3)
