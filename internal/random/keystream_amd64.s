//go:build !purego

#include "textflag.h"

// ChaCha20 (RFC 8439) one block to a lane: vector i holds word i of the state of 8 (AVX2) or 16 (AVX-512) blocks, so a
// quarter round needs no shuffles and only the result is transposed, into blocks that follow each other in dst. Their
// counters are any: the group's plus the lane's.

// AVX2 rotates 32-bit words left by whole bytes with a byte shuffle: these are the source bytes.
DATA left16<>+0x00(SB)/8, $0x0504070601000302
DATA left16<>+0x08(SB)/8, $0x0d0c0f0e09080b0a
DATA left16<>+0x10(SB)/8, $0x0504070601000302
DATA left16<>+0x18(SB)/8, $0x0d0c0f0e09080b0a
GLOBL left16<>(SB), RODATA|NOPTR, $32
DATA left8<>+0x00(SB)/8, $0x0605040702010003
DATA left8<>+0x08(SB)/8, $0x0e0d0c0f0a09080b
DATA left8<>+0x10(SB)/8, $0x0605040702010003
DATA left8<>+0x18(SB)/8, $0x0e0d0c0f0a09080b
GLOBL left8<>(SB), RODATA|NOPTR, $32

// ADDXORROL does x += y, z = (z ^ x) <<< n in four quarter rounds at once, which are independent of each other.
#define ADDXORROL(n, x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3) \
	VPADDD y0, x0, x0; VPADDD y1, x1, x1; VPADDD y2, x2, x2; VPADDD y3, x3, x3; \
	VPXORD x0, z0, z0; VPXORD x1, z1, z1; VPXORD x2, z2, z2; VPXORD x3, z3, z3; \
	VPROLD $n, z0, z0; VPROLD $n, z1, z1; VPROLD $n, z2, z2; VPROLD $n, z3, z3

// QUARTERS is RFC 8439's quarter round (section 2.1) on four columns or diagonals.
#define QUARTERS(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3) \
	ADDXORROL(16, a0, a1, a2, a3, b0, b1, b2, b3, d0, d1, d2, d3); \
	ADDXORROL(12, c0, c1, c2, c3, d0, d1, d2, d3, b0, b1, b2, b3); \
	ADDXORROL(8, a0, a1, a2, a3, b0, b1, b2, b3, d0, d1, d2, d3); \
	ADDXORROL(7, c0, c1, c2, c3, d0, d1, d2, d3, b0, b1, b2, b3)

// TRANSPOSE4 takes four consecutive words of all blocks. Afterwards x_k holds, in 128-bit lane l, these four words of
// block 4l + k. The t are scratch.
#define TRANSPOSE4(x0, x1, x2, x3, t0, t1, t2, t3) \
	VPUNPCKLDQ  x1, x0, t0; \
	VPUNPCKHDQ  x1, x0, t1; \
	VPUNPCKLDQ  x3, x2, t2; \
	VPUNPCKHDQ  x3, x2, t3; \
	VPUNPCKLQDQ t2, t0, x0; \
	VPUNPCKHQDQ t2, t0, x1; \
	VPUNPCKLQDQ t3, t1, x2; \
	VPUNPCKHQDQ t3, t1, x3

// STORE4 writes the blocks k, 4+k, 8+k and 12+k from DI on, whose words 4g to 4g+3 are the lanes of u_g: a transpose of
// 4 by 4 lanes. VSHUFI32X4 takes two lanes from each operand: 0x44 the lower, 0xee the upper, 0x88 the even, 0xdd the
// odd.
#define STORE4(k, u0, u1, u2, u3) \
	VSHUFI32X4 $0x44, u1, u0, Z16; \
	VSHUFI32X4 $0xee, u1, u0, Z17; \
	VSHUFI32X4 $0x44, u3, u2, Z18; \
	VSHUFI32X4 $0xee, u3, u2, Z19; \
	VSHUFI32X4 $0x88, Z18, Z16, Z20; \
	VSHUFI32X4 $0xdd, Z18, Z16, Z21; \
	VSHUFI32X4 $0x88, Z19, Z17, Z22; \
	VSHUFI32X4 $0xdd, Z19, Z17, Z23; \
	VMOVDQU32  Z20, (64*(k+0))(DI); \
	VMOVDQU32  Z21, (64*(k+4))(DI); \
	VMOVDQU32  Z22, (64*(k+8))(DI); \
	VMOVDQU32  Z23, (64*(k+12))(DI)

// FINISH adds the initial state, whose counters are c, to Z0 to Z15 and writes the 16 blocks from DI on.
#define FINISH(c) \
	VPADDD.BCST 0(SI), Z0, Z0; \
	VPADDD.BCST 4(SI), Z1, Z1; \
	VPADDD.BCST 8(SI), Z2, Z2; \
	VPADDD.BCST 12(SI), Z3, Z3; \
	VPADDD.BCST 16(SI), Z4, Z4; \
	VPADDD.BCST 20(SI), Z5, Z5; \
	VPADDD.BCST 24(SI), Z6, Z6; \
	VPADDD.BCST 28(SI), Z7, Z7; \
	VPADDD.BCST 32(SI), Z8, Z8; \
	VPADDD.BCST 36(SI), Z9, Z9; \
	VPADDD.BCST 40(SI), Z10, Z10; \
	VPADDD.BCST 44(SI), Z11, Z11; \
	VPADDD      c, Z12, Z12; \
	VPADDD.BCST 52(SI), Z13, Z13; \
	VPADDD.BCST 56(SI), Z14, Z14; \
	VPADDD.BCST 60(SI), Z15, Z15; \
	TRANSPOSE4(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19); \
	TRANSPOSE4(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23); \
	TRANSPOSE4(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19); \
	TRANSPOSE4(Z12, Z13, Z14, Z15, Z20, Z21, Z22, Z23); \
	STORE4(0, Z0, Z4, Z8, Z12); \
	STORE4(1, Z1, Z5, Z9, Z13); \
	STORE4(2, Z2, Z6, Z10, Z14); \
	STORE4(3, Z3, Z7, Z11, Z15)

// func keystreamAVX512(dst *uint64, groups int, state *[16]uint32, counter uint32, lanes *[32]uint32)
// Two sets of 16 blocks at a time, Z0 to Z15 and Z16 to Z31: one alone waits for its own results half of the time where
// an operation takes two cycles.
TEXT ·keystreamAVX512(SB), 0, $128-40
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVQ state+16(FP), SI
	MOVL counter+24(FP), R9
	MOVQ lanes+32(FP), R8

group:
	VPBROADCASTD R9, Z12
	VPADDD 64(R8), Z12, Z28
	VPADDD 0(R8), Z12, Z12
	VMOVDQU32 Z12, counters-128(SP)
	VMOVDQU32 Z28, counters-64(SP)
	VPBROADCASTD 0(SI), Z0
	VPBROADCASTD 4(SI), Z1
	VPBROADCASTD 8(SI), Z2
	VPBROADCASTD 12(SI), Z3
	VPBROADCASTD 16(SI), Z4
	VPBROADCASTD 20(SI), Z5
	VPBROADCASTD 24(SI), Z6
	VPBROADCASTD 28(SI), Z7
	VPBROADCASTD 32(SI), Z8
	VPBROADCASTD 36(SI), Z9
	VPBROADCASTD 40(SI), Z10
	VPBROADCASTD 44(SI), Z11
	VPBROADCASTD 52(SI), Z13
	VPBROADCASTD 56(SI), Z14
	VPBROADCASTD 60(SI), Z15
	VMOVDQA32    Z0, Z16
	VMOVDQA32    Z1, Z17
	VMOVDQA32    Z2, Z18
	VMOVDQA32    Z3, Z19
	VMOVDQA32    Z4, Z20
	VMOVDQA32    Z5, Z21
	VMOVDQA32    Z6, Z22
	VMOVDQA32    Z7, Z23
	VMOVDQA32    Z8, Z24
	VMOVDQA32    Z9, Z25
	VMOVDQA32    Z10, Z26
	VMOVDQA32    Z11, Z27
	VMOVDQA32    Z13, Z29
	VMOVDQA32    Z14, Z30
	VMOVDQA32    Z15, Z31
	MOVQ         $10, AX

rounds:
	QUARTERS(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	QUARTERS(Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	QUARTERS(Z0, Z1, Z2, Z3, Z5, Z6, Z7, Z4, Z10, Z11, Z8, Z9, Z15, Z12, Z13, Z14)
	QUARTERS(Z16, Z17, Z18, Z19, Z21, Z22, Z23, Z20, Z26, Z27, Z24, Z25, Z31, Z28, Z29, Z30)
	DECQ AX
	JNZ  rounds

	// The second set waits in its place in dst, row by row, while the first uses its registers as scratch.
	VMOVDQU32 Z16, 1024(DI)
	VMOVDQU32 Z17, 1088(DI)
	VMOVDQU32 Z18, 1152(DI)
	VMOVDQU32 Z19, 1216(DI)
	VMOVDQU32 Z20, 1280(DI)
	VMOVDQU32 Z21, 1344(DI)
	VMOVDQU32 Z22, 1408(DI)
	VMOVDQU32 Z23, 1472(DI)
	VMOVDQU32 Z24, 1536(DI)
	VMOVDQU32 Z25, 1600(DI)
	VMOVDQU32 Z26, 1664(DI)
	VMOVDQU32 Z27, 1728(DI)
	VMOVDQU32 Z28, 1792(DI)
	VMOVDQU32 Z29, 1856(DI)
	VMOVDQU32 Z30, 1920(DI)
	VMOVDQU32 Z31, 1984(DI)
	VMOVDQU32 counters-128(SP), Z24
	FINISH(Z24)
	ADDQ      $1024, DI
	VMOVDQU32 0(DI), Z0
	VMOVDQU32 64(DI), Z1
	VMOVDQU32 128(DI), Z2
	VMOVDQU32 192(DI), Z3
	VMOVDQU32 256(DI), Z4
	VMOVDQU32 320(DI), Z5
	VMOVDQU32 384(DI), Z6
	VMOVDQU32 448(DI), Z7
	VMOVDQU32 512(DI), Z8
	VMOVDQU32 576(DI), Z9
	VMOVDQU32 640(DI), Z10
	VMOVDQU32 704(DI), Z11
	VMOVDQU32 768(DI), Z12
	VMOVDQU32 832(DI), Z13
	VMOVDQU32 896(DI), Z14
	VMOVDQU32 960(DI), Z15
	VMOVDQU32 counters-64(SP), Z24
	FINISH(Z24)
	ADDQ      $1024, DI

	ADDL $32, R9
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET

// The same in AVX2, two quarter rounds at a time, because 16 registers have to hold the 16 words of the state and
// scratch besides. So of words 8 to 11 only two are in registers (Y8 and Y9) at a time; each has a home in memory,
// at 0, 32, 64 and 96 from BX.

// ADDXOR does x += y, z ^= x.
#define ADDXOR(x0, x1, y0, y1, z0, z1) \
	VPADDD y0, x0, x0; VPADDD y1, x1, x1; \
	VPXOR  x0, z0, z0; VPXOR x1, z1, z1

// ROL does z <<<= n by two shifts; m is 32 - n.
#define ROL(n, m, z0, z1) \
	VPSLLD $n, z0, Y14; VPSLLD $n, z1, Y15; \
	VPSRLD $m, z0, z0; VPSRLD $m, z1, z1; \
	VPOR   Y14, z0, z0; VPOR Y15, z1, z1

#define QUARTERS2(a0, a1, b0, b1, c0, c1, d0, d1) \
	ADDXOR(a0, a1, b0, b1, d0, d1); \
	VPSHUFB left16<>(SB), d0, d0; VPSHUFB left16<>(SB), d1, d1; \
	ADDXOR(c0, c1, d0, d1, b0, b1); \
	ROL(12, 20, b0, b1); \
	ADDXOR(a0, a1, b0, b1, d0, d1); \
	VPSHUFB left8<>(SB), d0, d0; VPSHUFB left8<>(SB), d1, d1; \
	ADDXOR(c0, c1, d0, d1, b0, b1); \
	ROL(7, 25, b0, b1)

// FEED adds the initial state's word at offset w of SI to x.
#define FEED(w, x) \
	VPBROADCASTD w(SI), Y14; \
	VPADDD       Y14, x, x

// STORE2 writes one half (the lower at 0, the upper at 32) of blocks k and 4+k, whose two quarters are the lanes of u
// and v.
#define STORE2(k, half, u, v) \
	VPERM2I128 $0x20, v, u, Y14; \
	VPERM2I128 $0x31, v, u, Y15; \
	VMOVDQU    Y14, (64*(k+0)+half)(DI); \
	VMOVDQU    Y15, (64*(k+4)+half)(DI)

// func keystreamAVX2(dst *uint64, groups int, state *[16]uint32, counter uint32, lanes *[32]uint32)
// Y0 to Y7 are words 0 to 7, Y10 to Y13 words 12 to 15; the counters are at 128 from BX.
TEXT ·keystreamAVX2(SB), 0, $192-40
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	SHLQ $2, CX // sets of 8 blocks
	MOVQ state+16(FP), SI
	LEAQ scratch-192(SP), BX
	ADDQ $31, BX
	ANDQ $~31, BX
	MOVL counter+24(FP), R9
	MOVQ lanes+32(FP), R8

set:
	VMOVD        R9, X10
	VPBROADCASTD X10, Y10
	VPADDD       (R8), Y10, Y10
	VMOVDQA      Y10, 128(BX)
	VPBROADCASTD 40(SI), Y8
	VPBROADCASTD 44(SI), Y9
	VMOVDQA      Y8, 64(BX)
	VMOVDQA      Y9, 96(BX)
	VPBROADCASTD 0(SI), Y0
	VPBROADCASTD 4(SI), Y1
	VPBROADCASTD 8(SI), Y2
	VPBROADCASTD 12(SI), Y3
	VPBROADCASTD 16(SI), Y4
	VPBROADCASTD 20(SI), Y5
	VPBROADCASTD 24(SI), Y6
	VPBROADCASTD 28(SI), Y7
	VPBROADCASTD 32(SI), Y8
	VPBROADCASTD 36(SI), Y9
	VMOVDQA      128(BX), Y10
	VPBROADCASTD 52(SI), Y11
	VPBROADCASTD 56(SI), Y12
	VPBROADCASTD 60(SI), Y13
	MOVQ         $10, AX

rounds:
	QUARTERS2(Y0, Y1, Y4, Y5, Y8, Y9, Y10, Y11)
	VMOVDQA Y8, 0(BX)
	VMOVDQA Y9, 32(BX)
	VMOVDQA 64(BX), Y8
	VMOVDQA 96(BX), Y9
	QUARTERS2(Y2, Y3, Y6, Y7, Y8, Y9, Y12, Y13)
	QUARTERS2(Y0, Y1, Y5, Y6, Y8, Y9, Y13, Y10)
	VMOVDQA Y8, 64(BX)
	VMOVDQA Y9, 96(BX)
	VMOVDQA 0(BX), Y8
	VMOVDQA 32(BX), Y9
	QUARTERS2(Y2, Y3, Y7, Y4, Y8, Y9, Y11, Y12)
	DECQ AX
	JNZ  rounds

	FEED(0, Y0)
	FEED(4, Y1)
	FEED(8, Y2)
	FEED(12, Y3)
	FEED(16, Y4)
	FEED(20, Y5)
	FEED(24, Y6)
	FEED(28, Y7)
	FEED(32, Y8)
	FEED(36, Y9)
	VPADDD 128(BX), Y10, Y10
	FEED(52, Y11)
	FEED(56, Y12)
	FEED(60, Y13)

	// The transposes need four scratch registers, so words 8 and 9 wait in memory while the lower half is written.
	VMOVDQA Y8, 0(BX)
	VMOVDQA Y9, 32(BX)
	TRANSPOSE4(Y0, Y1, Y2, Y3, Y8, Y9, Y14, Y15)
	TRANSPOSE4(Y4, Y5, Y6, Y7, Y8, Y9, Y14, Y15)
	STORE2(0, 0, Y0, Y4)
	STORE2(1, 0, Y1, Y5)
	STORE2(2, 0, Y2, Y6)
	STORE2(3, 0, Y3, Y7)

	VMOVDQA 0(BX), Y0
	VMOVDQA 32(BX), Y1
	VMOVDQA 64(BX), Y2
	VMOVDQA 96(BX), Y3
	FEED(40, Y2)
	FEED(44, Y3)
	TRANSPOSE4(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	TRANSPOSE4(Y10, Y11, Y12, Y13, Y4, Y5, Y6, Y7)
	STORE2(0, 32, Y0, Y10)
	STORE2(1, 32, Y1, Y11)
	STORE2(2, 32, Y2, Y12)
	STORE2(3, 32, Y3, Y13)

	ADDQ  $512, DI
	ADDQ  $32, R8
	DECQ  CX
	TESTQ $3, CX
	JNZ   set
	SUBQ  $128, R8 // the first lanes of the next group
	ADDL  $32, R9
	TESTQ CX, CX
	JNZ   set
	VZEROUPPER
	RET
