#include "textflag.h"
#include "outer_amd64.h"

// Sums of outer products with AVX-512: see outer_amd64.h.
//
//	Z0-Z7    sums, row after row
//	Z8 Z9    pair l of y
//	Z10      broadcast element of x, then its product with the last register; Z11 that with the first
//	Z12      magic
//	Z13      start
//	Z15      the old sum
//	K1       mask of the last register

#define LOAD1 VMOVUPS.Z (DX), K1, Z8
#define LOAD2 VMOVUPS (DX), Z8; VMOVUPS.Z 64(DX), K1, Z9

#define FETCH1(a, c0) PREFETCHT0 (DX); ADDQ R9, DX
#define FETCH2(a, c0, c1) PREFETCHT0 (DX); PREFETCHT0 64(DX); ADDQ R9, DX

#define START1(a, c0) VMOVDQA32 Z13, c0
#define START2(a, c0, c1) VMOVDQA32 Z13, c0; VMOVDQA32 Z13, c1

#define MADD1(a, c0) VBROADCASTSS a, Z10; VFMADD213PS Z12, Z8, Z10; VPADDD Z10, c0, c0
#define MADD2(a, c0, c1) \
	VBROADCASTSS a, Z10; VMOVAPS Z12, Z11; VFMADD231PS Z8, Z10, Z11; VPADDD Z11, c0, c0; \
	VFMADD213PS Z12, Z9, Z10; VPADDD Z10, c1, c1

#define OLDLAST(at, c) VMOVDQU32.Z at(DX), K1, Z15; VPADDD Z15, c, c; ADDQ R9, DX
#define OLD1(a, c0) OLDLAST(0, c0)
#define OLD2(a, c0, c1) VPADDD (DX), c0, c0; OLDLAST(64, c1)

#define STORELAST(at, c) VMOVDQU32 c, K1, at(DI); ADDQ R9, DI
#define STORE1(a, c0) STORELAST(0, c0)
#define STORE2(a, c0, c1) VMOVDQU32 c0, (DI); STORELAST(64, c1)

// The sums of a block of r rows and v registers: EACHrxv.
#define EACH1x1(DO) DO(0(AX), Z0)
#define EACH4x1(DO) EACH1x1(DO); DO(4(AX), Z1); DO(8(AX), Z2); DO(12(AX), Z3)
#define EACH1x2(DO) DO(0(AX), Z0, Z1)
#define EACH4x2(DO) EACH1x2(DO); DO(4(AX), Z2, Z3); DO(8(AX), Z4, Z5); DO(12(AX), Z6, Z7)

#define PANEL(EACH4, EACH1, FETCH, START, LOAD, MADD, OLD, STORE) \
	ARGUMENTS                        \
	MOVL $1, AX                      \
	SHLL CX, AX                      \
	DECL AX                          \
	KMOVW AX, K1                     \
	VBROADCASTSS magic+72(FP), Z12   \
	VPBROADCASTD start+76(FP), Z13   \
	BLOCKS(4, EACH4, FETCH, START, LOAD, MADD, OLD, STORE, block4, step4, block1) \
	BLOCKS(1, EACH1, FETCH, START, LOAD, MADD, OLD, STORE, block1, step1, done)   \
done: \
	VZEROUPPER                       \
	RET

TEXT ·addOuter1AVX512(SB), NOSPLIT, $0-80
	PANEL(EACH4x1, EACH1x1, FETCH1, START1, LOAD1, MADD1, OLD1, STORE1)

TEXT ·addOuter2AVX512(SB), NOSPLIT, $0-80
	PANEL(EACH4x2, EACH1x2, FETCH2, START2, LOAD2, MADD2, OLD2, STORE2)
