#include "textflag.h"
#include "outer_amd64.h"

// Sums of outer products with AVX2 and FMA: see outer_amd64.h.
//
//	Y0-Y7    sums, row after row
//	Y8 Y9    pair l of y
//	Y10      broadcast element of x, then its product with the last register; Y11 that with the first
//	Y12      magic
//	Y13      start
//	Y14      mask of the last register
//	Y15      the old sum

#define LOAD1 VMASKMOVPS (DX), Y14, Y8
#define LOAD2 VMOVUPS (DX), Y8; VMASKMOVPS 32(DX), Y14, Y9

#define FETCH1(a, c0) PREFETCHT0 (DX); ADDQ R9, DX
#define FETCH2(a, c0, c1) PREFETCHT0 (DX); ADDQ R9, DX

#define START1(a, c0) VMOVDQA Y13, c0
#define START2(a, c0, c1) VMOVDQA Y13, c0; VMOVDQA Y13, c1

#define MADD1(a, c0) VBROADCASTSS a, Y10; VFMADD213PS Y12, Y8, Y10; VPADDD Y10, c0, c0
#define MADD2(a, c0, c1) \
	VBROADCASTSS a, Y10; VMOVAPS Y12, Y11; VFMADD231PS Y8, Y10, Y11; VPADDD Y11, c0, c0; \
	VFMADD213PS Y12, Y9, Y10; VPADDD Y10, c1, c1

#define OLDLAST(at, c) VPMASKMOVD at(DX), Y14, Y15; VPADDD Y15, c, c; ADDQ R9, DX
#define OLD1(a, c0) OLDLAST(0, c0)
#define OLD2(a, c0, c1) VPADDD (DX), c0, c0; OLDLAST(32, c1)

#define STORELAST(at, c) VPMASKMOVD c, Y14, at(DI); ADDQ R9, DI
#define STORE1(a, c0) STORELAST(0, c0)
#define STORE2(a, c0, c1) VMOVDQU c0, (DI); STORELAST(32, c1)

// The sums of a block of r rows and v registers: EACHrxv.
#define EACH1x1(DO) DO(0(AX), Y0)
#define EACH4x1(DO) EACH1x1(DO); DO(4(AX), Y1); DO(8(AX), Y2); DO(12(AX), Y3)
#define EACH1x2(DO) DO(0(AX), Y0, Y1)
#define EACH4x2(DO) EACH1x2(DO); DO(4(AX), Y2, Y3); DO(8(AX), Y4, Y5); DO(12(AX), Y6, Y7)

#define PANEL(EACH4, EACH1, FETCH, START, LOAD, MADD, OLD, STORE) \
	ARGUMENTS                        \
	LEAQ ·prefixMask+32(SB), R15     \
	SHLQ $2, CX                      \
	SUBQ CX, R15                     \
	VMOVUPS (R15), Y14               \
	VBROADCASTSS magic+72(FP), Y12   \
	VPBROADCASTD start+76(FP), Y13   \
	BLOCKS(4, EACH4, FETCH, START, LOAD, MADD, OLD, STORE, block4, step4, block1) \
	BLOCKS(1, EACH1, FETCH, START, LOAD, MADD, OLD, STORE, block1, step1, done)   \
done: \
	VZEROUPPER                       \
	RET

TEXT ·addOuter1AVX2(SB), NOSPLIT, $0-80
	PANEL(EACH4x1, EACH1x1, FETCH1, START1, LOAD1, MADD1, OLD1, STORE1)

TEXT ·addOuter2AVX2(SB), NOSPLIT, $0-80
	PANEL(EACH4x2, EACH1x2, FETCH2, START2, LOAD2, MADD2, OLD2, STORE2)
