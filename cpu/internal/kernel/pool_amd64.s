#include "textflag.h"
#include "avx2_amd64.h"
#include "constant_amd64.h"

// One row of pooling windows at stride 1: a register holds eight neighbouring windows. (AVX-512 gains
// nothing on rows as short as pooling sees.)
//
//	DI R10 SI  dst, arg, and the image at the first window's corner
//	R12        bytes between rows of the image
//	AX BX CX   windows done, windows in whole registers, windows
//	DX R9      the window row at hand, rows left
//	R13 R11    the window column at hand, columns left
//	V0 V1      largest element so far and its index
//	V2 V4      element at hand and its index
//	V5         index of the windows' corners
//	V6         what the index skips from the end of a window's row to the next

DATA iota<>+0(SB)/4, $0
DATA iota<>+4(SB)/4, $1
DATA iota<>+8(SB)/4, $2
DATA iota<>+12(SB)/4, $3
DATA iota<>+16(SB)/4, $4
DATA iota<>+20(SB)/4, $5
DATA iota<>+24(SB)/4, $6
DATA iota<>+28(SB)/4, $7
GLOBL iota<>(SB), RODATA|NOPTR, $32

CONSTANT(next, $1)
CONSTANT(step, $8)

// TAKELARGER moves V2 and V4 to V0 and V1 where V2 > V0, or V2 is NaN and V0 isn't.
#define TAKELARGER \
	VCMPPS $7, V0, V0, V3      \ // V0 is a number
	VCMPPS $6, V0, V2, Y14     \ // and V2 isn't at most V0
	VANDPS V3, Y14, Y14        \
	VBLENDVPS Y14, V2, V0, V0  \
	VBLENDVPS Y14, V4, V1, V1

// WINDOWS handles one register of windows.
#define WINDOWS(LOAD, STORE, row, column) \
	LOAD((SI)(AX*4), V0)       \
	VMOVUPS V5, V1             \
	VMOVUPS V5, V4             \
	LEAQ (SI)(AX*4), DX        \
	MOVQ rows+32(FP), R9       \
row: \
	MOVQ DX, R13               \
	MOVQ cols+40(FP), R11      \
column: \
	LOAD((R13), V2)            \
	TAKELARGER                 \
	VPADDD next<>(SB), V4, V4  \
	ADDQ $4, R13               \
	DECQ R11                   \
	JNZ  column                \
	VPADDD V6, V4, V4          \
	ADDQ R12, DX               \
	DECQ R9                    \
	JNZ  row                   \
	STORE(V0, (DI)(AX*4))      \
	STORE(V1, (R10)(AX*4))     \
	VPADDD step<>(SB), V5, V5

// func maxPoolRowAVX2(dst *float32, arg *int32, n int, img *float32, rows, cols, w int, index, skip int32)
TEXT ·maxPoolRowAVX2(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ arg+8(FP), R10
	MOVQ n+16(FP), CX
	MOVQ img+24(FP), SI
	MOVQ w+48(FP), R12
	VBROADCASTSS index+56(FP), V5
	VBROADCASTSS skip+60(FP), V6
	VPADDD iota<>(SB), V5, V5
	SHLQ $2, R12
	XORL AX, AX
	MOVQ CX, BX
	ANDQ $~(LANES-1), BX
	JZ   tail

whole:
	WINDOWS(LOAD, STORE, row, column)
	ADDQ $LANES, AX
	CMPQ AX, BX
	JLT  whole

tail:
	SUBQ BX, CX
	JZ   done
	SETTAIL
	WINDOWS(LOADTAIL, STORETAIL, tailrow, tailcolumn)

done:
	VZEROUPPER
	RET
