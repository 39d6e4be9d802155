#include "textflag.h"

// HALF transposes four columns of eight rows, at byte offset at of the rows. Each load pairs row i with
// row i+4 in one register, so that interleaving within 128-bit halves is all that is left to do.
#define HALF(at) \
	VMOVUPS     at(AX), X0                \
	VMOVUPS     at(AX)(R8*1), X1          \
	VMOVUPS     at(AX)(R8*2), X2          \
	VMOVUPS     at(AX)(R9*1), X3          \
	VINSERTF128 $1, at(BX), Y0, Y0        \
	VINSERTF128 $1, at(BX)(R8*1), Y1, Y1  \
	VINSERTF128 $1, at(BX)(R8*2), Y2, Y2  \
	VINSERTF128 $1, at(BX)(R9*1), Y3, Y3  \
	VUNPCKLPS   Y1, Y0, Y4                \
	VUNPCKHPS   Y1, Y0, Y5                \
	VUNPCKLPS   Y3, Y2, Y6                \
	VUNPCKHPS   Y3, Y2, Y7                \
	VUNPCKLPD   Y6, Y4, Y0                \
	VUNPCKHPD   Y6, Y4, Y1                \
	VUNPCKLPD   Y7, Y5, Y2                \
	VUNPCKHPD   Y7, Y5, Y3                \
	VMOVUPS     Y0, (DX)                  \
	VMOVUPS     Y1, (DX)(R10*1)           \
	VMOVUPS     Y2, (DX)(R10*2)           \
	VMOVUPS     Y3, (DX)(R11*1)           \
	LEAQ        (DX)(R10*4), DX

// func transposeBlocksAVX2(dst *float32, ldd int, a *float32, lda, rows, cols int)
//
// Eight rows of a at a time become eight columns of dst.
//
//	SI      a at the first of eight rows; AX and BX follow rows 0 and 4 across the columns
//	DI      dst at the first of eight columns; DX follows it down the rows
//	R8 R9   1 and 3 times the bytes between rows of a
//	R10 R11 1 and 3 times the bytes between rows of dst
TEXT ·transposeBlocksAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R10
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ rows+32(FP), R12
	SHLQ $2, R8
	SHLQ $2, R10
	LEAQ (R8)(R8*2), R9
	LEAQ (R10)(R10*2), R11

rows:
	MOVQ cols+40(FP), CX
	MOVQ SI, AX
	LEAQ (SI)(R8*4), BX
	MOVQ DI, DX

cols:
	HALF(0)
	HALF(16)
	ADDQ $32, AX
	ADDQ $32, BX
	SUBQ $8, CX
	JNZ  cols
	LEAQ (SI)(R8*8), SI
	ADDQ $32, DI
	SUBQ $8, R12
	JNZ  rows
	VZEROUPPER
	RET

// func collectRowsAVX2(dst *float32, a *float32, lda, rows, cols int)
//
// The processor doesn't foresee rows that are pages apart, so each is asked for sixteen rows ahead.
//
//	SI AX   a at the row; AX follows the columns
//	DI      dst, from end to end
//	R8 R9   1 and 16 times the bytes between rows of a
//	R12 R13 rows left, and columns
TEXT ·collectRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ rows+24(FP), R12
	MOVQ cols+32(FP), R13
	SHLQ $2, R8
	MOVQ R8, R9
	SHLQ $4, R9

row:
	MOVQ SI, AX
	MOVQ R13, CX
	SUBQ $16, CX
	JLT  few

line:
	PREFETCHT0 (AX)(R9*1)
	VMOVUPS    (AX), Y0
	VMOVUPS    32(AX), Y1
	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, 32(DI)
	ADDQ       $64, AX
	ADDQ       $64, DI
	SUBQ       $16, CX
	JGE        line

few:
	ADDQ $16, CX
	JZ   copied

one:
	MOVL (AX), DX
	MOVL DX, (DI)
	ADDQ $4, AX
	ADDQ $4, DI
	DECQ CX
	JNZ  one

copied:
	ADDQ R8, SI
	DECQ R12
	JNZ  row
	VZEROUPPER
	RET
