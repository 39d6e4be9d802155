//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// The operations of normals.go, in its order, on 4 (AVX2) or 8 (AVX-512) pairs of words at a time. Rows of the table
// coefficients, in bytes:
#define LOG0 (0*32)
#define LOG1 (1*32)
#define LOG2 (2*32)
#define LOG3 (3*32)
#define LOG4 (4*32)
#define LOG5 (5*32)
#define LOG6 (6*32)
#define SIN0 (7*32)
#define SIN1 (8*32)
#define SIN2 (9*32)
#define SIN3 (10*32)
#define SIN4 (11*32)
#define SIN5 (12*32)
#define COS0 (13*32)
#define COS1 (14*32)
#define COS2 (15*32)
#define COS3 (16*32)
#define COS4 (17*32)
#define COS5 (18*32)
#define COS6 (19*32)
#define TWOLN2 (20*32)
#define TWOPI (21*32)
#define TWOPILO (22*32)
#define HALF (23*32)
#define ONE (24*32)
#define FOUR (25*32)
#define TURN (26*32)
#define EXPONENT (27*32)
#define UNSIGNED (28*32)
#define SIGNED (29*32)

// Integer constants, four lanes each for AVX2.
#define ROW(name, value) \
	DATA name<>+0(SB)/8, $value; \
	DATA name<>+8(SB)/8, $value; \
	DATA name<>+16(SB)/8, $value; \
	DATA name<>+24(SB)/8, $value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

ROW(carry, (const_oneBits-const_sqrtHalfBits))
ROW(mantissa, const_mantissaBits)
ROW(sqrtHalf, const_sqrtHalfBits)
ROW(sign, const_signBit)
ROW(odd, 0x4000000000000000)
ROW(eighth, 0x2000000000000000)
ROW(two52, 0x4330000000000000)   // 2^52: the low bits count ones
ROW(two84, 0x4530000000000000)   // 2^84: the low bits count 2^32s
ROW(two84s, 0x4530000080000000)  // 2^84 + 2^63

// Words and normals come in pairs (w1, w2) and (z1, z2). Unpacking two vectors of pairs gives a vector of firsts and
// one of seconds, in an order that the same unpacking of the results undoes.

// func boxMullerAVX512(dst *float64, words *uint64, n int, c *[30][4]float64)
TEXT ·boxMullerAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ c+24(FP), BX
	VPBROADCASTQ carry<>(SB), Z16
	VPBROADCASTQ mantissa<>(SB), Z17
	VPBROADCASTQ sqrtHalf<>(SB), Z18
	VPBROADCASTQ two52<>(SB), Z19
	VPBROADCASTQ eighth<>(SB), Z20
	VPBROADCASTQ odd<>(SB), Z21
	VPBROADCASTQ sign<>(SB), Z22
	VBROADCASTSD ONE(BX), Z23
	VBROADCASTSD EXPONENT(BX), Z24
	VBROADCASTSD LOG6(BX), Z25
	VBROADCASTSD SIN5(BX), Z26
	VBROADCASTSD COS6(BX), Z27

pairs:
	VMOVDQU64   0(SI), Z0
	VMOVDQU64   64(SI), Z1
	VPUNPCKLQDQ Z1, Z0, Z2 // w1
	VPUNPCKHQDQ Z1, Z0, Z3 // w2

	// radiusSquared: Z2 = m, Z4 = n.
	VCVTUQQ2PD  Z2, Z2
	VADDPD.BCST HALF(BX), Z2, Z2
	VPADDQ      Z16, Z2, Z2
	VPSRLQ      $52, Z2, Z4
	VPORQ       Z19, Z4, Z4
	VSUBPD      Z4, Z24, Z4
	VPANDQ      Z17, Z2, Z2
	VPADDQ      Z18, Z2, Z2

	// Z5 = s, Z6 = z, Z7 = p and then the square.
	VSUBPD Z2, Z23, Z5
	VADDPD Z2, Z23, Z6
	VDIVPD Z6, Z5, Z5
	VMULPD Z5, Z5, Z6
	VMOVAPD Z25, Z7
	VFMADD213PD.BCST LOG5(BX), Z6, Z7
	VFMADD213PD.BCST LOG4(BX), Z6, Z7
	VFMADD213PD.BCST LOG3(BX), Z6, Z7
	VFMADD213PD.BCST LOG2(BX), Z6, Z7
	VFMADD213PD.BCST LOG1(BX), Z6, Z7
	VFMADD213PD.BCST LOG0(BX), Z6, Z7
	VMULPD           Z6, Z7, Z7
	VMULPD.BCST      FOUR(BX), Z5, Z6
	VFMADD213PD      Z6, Z5, Z7
	VFMADD231PD.BCST TWOLN2(BX), Z4, Z7
	VSQRTPD          Z7, Z7

	// sincos: Z8 = x, Z9 = z, Z10 = sine, Z11 = cosine.
	VPSLLQ      $2, Z3, Z8
	VCVTQQ2PD   Z8, Z8
	VMULPD.BCST TURN(BX), Z8, Z8
	VMULPD      Z8, Z8, Z9
	VMOVAPD     Z26, Z10
	VMOVAPD     Z27, Z11
	VFMADD213PD.BCST COS5(BX), Z9, Z11
	VFMADD213PD.BCST SIN4(BX), Z9, Z10
	VFMADD213PD.BCST COS4(BX), Z9, Z11
	VFMADD213PD.BCST SIN3(BX), Z9, Z10
	VFMADD213PD.BCST COS3(BX), Z9, Z11
	VFMADD213PD.BCST SIN2(BX), Z9, Z10
	VFMADD213PD.BCST COS2(BX), Z9, Z11
	VFMADD213PD.BCST SIN1(BX), Z9, Z10
	VFMADD213PD.BCST COS1(BX), Z9, Z11
	VFMADD213PD.BCST SIN0(BX), Z9, Z10
	VFMADD213PD.BCST COS0(BX), Z9, Z11
	VFMADD213PD.BCST TWOPILO(BX), Z9, Z10
	VFMADD213PD      Z23, Z9, Z11
	VMULPD           Z8, Z10, Z10
	VFMADD231PD.BCST TWOPI(BX), Z8, Z10

	// The quadrant: Z3 = v. VPTERNLOGQ $0x78 is dst ^= second & first.
	VPADDQ     Z20, Z3, Z3
	VPTESTMQ   Z21, Z3, K1
	VBLENDMPD  Z11, Z10, K1, Z12 // sine
	VBLENDMPD  Z10, Z11, K1, Z13 // cosine
	VPSLLQ     $1, Z3, Z14
	VPXORQ     Z3, Z14, Z14
	VPTERNLOGQ $0x78, Z22, Z3, Z12
	VPTERNLOGQ $0x78, Z22, Z14, Z13

	VMULPD    Z7, Z13, Z13
	VMULPD    Z7, Z12, Z12
	VUNPCKLPD Z12, Z13, Z0
	VUNPCKHPD Z12, Z13, Z1
	VMOVUPD   Z0, 0(DI)
	VMOVUPD   Z1, 64(DI)
	ADDQ      $128, SI
	ADDQ      $128, DI
	SUBQ      $16, CX
	JNZ       pairs
	VZEROUPPER
	RET

// func boxMullerAVX2(dst *float64, words *uint64, n int, c *[30][4]float64)
//
// AVX2 has no conversion from 64-bit integers. The halves of the word go into the low bits of 2^52 and 2^84; taking
// both biases from the latter is exact and adding the halves rounds once, as the portable conversion does.
TEXT ·boxMullerAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ c+24(FP), BX
	VMOVUPD ONE(BX), Y15

pairs:
	VMOVDQU     0(SI), Y0
	VMOVDQU     32(SI), Y1
	VPUNPCKLQDQ Y1, Y0, Y2 // w1
	VPUNPCKHQDQ Y1, Y0, Y3 // w2

	// radiusSquared: Y2 = m, Y4 = n.
	VPBLENDD $0xaa, two52<>(SB), Y2, Y4
	VPSRLQ   $32, Y2, Y2
	VPOR     two84<>(SB), Y2, Y2
	VSUBPD   UNSIGNED(BX), Y2, Y2
	VADDPD   Y4, Y2, Y2
	VADDPD   HALF(BX), Y2, Y2
	VPADDQ   carry<>(SB), Y2, Y2
	VPSRLQ   $52, Y2, Y4
	VPOR     two52<>(SB), Y4, Y4
	VMOVUPD  EXPONENT(BX), Y5
	VSUBPD   Y4, Y5, Y4
	VPAND    mantissa<>(SB), Y2, Y2
	VPADDQ   sqrtHalf<>(SB), Y2, Y2

	// Y5 = s, Y6 = z, Y7 = p and then the square.
	VSUBPD      Y2, Y15, Y5
	VADDPD      Y2, Y15, Y6
	VDIVPD      Y6, Y5, Y5
	VMULPD      Y5, Y5, Y6
	VMOVUPD     LOG6(BX), Y7
	VFMADD213PD LOG5(BX), Y6, Y7
	VFMADD213PD LOG4(BX), Y6, Y7
	VFMADD213PD LOG3(BX), Y6, Y7
	VFMADD213PD LOG2(BX), Y6, Y7
	VFMADD213PD LOG1(BX), Y6, Y7
	VFMADD213PD LOG0(BX), Y6, Y7
	VMULPD      Y6, Y7, Y7
	VMULPD      FOUR(BX), Y5, Y6
	VFMADD213PD Y6, Y5, Y7
	VFMADD231PD TWOLN2(BX), Y4, Y7
	VSQRTPD     Y7, Y7

	// sincos: Y8 = x, Y9 = z, Y10 = sine, Y11 = cosine.
	VPSLLQ      $2, Y3, Y8
	VPBLENDD    $0xaa, two52<>(SB), Y8, Y9
	VPSRLQ      $32, Y8, Y8
	VPXOR       two84s<>(SB), Y8, Y8
	VSUBPD      SIGNED(BX), Y8, Y8
	VADDPD      Y9, Y8, Y8
	VMULPD      TURN(BX), Y8, Y8
	VMULPD      Y8, Y8, Y9
	VMOVUPD     SIN5(BX), Y10
	VMOVUPD     COS6(BX), Y11
	VFMADD213PD COS5(BX), Y9, Y11
	VFMADD213PD SIN4(BX), Y9, Y10
	VFMADD213PD COS4(BX), Y9, Y11
	VFMADD213PD SIN3(BX), Y9, Y10
	VFMADD213PD COS3(BX), Y9, Y11
	VFMADD213PD SIN2(BX), Y9, Y10
	VFMADD213PD COS2(BX), Y9, Y11
	VFMADD213PD SIN1(BX), Y9, Y10
	VFMADD213PD COS1(BX), Y9, Y11
	VFMADD213PD SIN0(BX), Y9, Y10
	VFMADD213PD COS0(BX), Y9, Y11
	VFMADD213PD TWOPILO(BX), Y9, Y10
	VFMADD213PD Y15, Y9, Y11
	VMULPD      Y8, Y10, Y10
	VFMADD231PD TWOPI(BX), Y8, Y10

	// The quadrant: Y3 = v, Y14 = 2v. VBLENDVPD chooses by the sign bit.
	VPADDQ    eighth<>(SB), Y3, Y3
	VPSLLQ    $1, Y3, Y14
	VBLENDVPD Y14, Y11, Y10, Y12 // sine
	VBLENDVPD Y14, Y10, Y11, Y13 // cosine
	VPXOR     Y3, Y14, Y14
	VPAND     sign<>(SB), Y3, Y3
	VPAND     sign<>(SB), Y14, Y14
	VXORPD    Y3, Y12, Y12
	VXORPD    Y14, Y13, Y13

	VMULPD    Y7, Y13, Y13
	VMULPD    Y7, Y12, Y12
	VUNPCKLPD Y12, Y13, Y0
	VUNPCKHPD Y12, Y13, Y1
	VMOVUPD   Y0, 0(DI)
	VMOVUPD   Y1, 32(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $8, CX
	JNZ       pairs
	VZEROUPPER
	RET
