// Macros of the AVX2 and AVX-512 matrix products. A function computes one panel of C, one to three
// registers wide and m rows high, in blocks of 8 rows (AVX-512 only), 4, 2 and 1:
//
//	C[i,j] = Σ_l A[i,l]·B[l,j], or C[i,j] + Σ_l A[i,l]·B[l,j] to accumulate
//
// A block's sums stay in registers while l runs once over A and B, so an element of C is one chain of
// fused multiply-adds in ascending l from 0 or its old value, whatever the block it falls in. Each step
// loads one row of the B panel and broadcasts one element of each row of A, whose rows and columns have
// any stride.
//
//	SI       A at the block's first row; AX follows it over l
//	BX       B panel; DX follows it over l
//	DI       C at the row to store next; DX runs ahead of it to read the old C
//	R8-R11   1, 3, 5 and 7 times the bytes between rows of A
//	R12      bytes between columns of A
//	R13      bytes between rows of B
//	R14      rows left
//	R15      AVX2: the mask of the last register
//	CX       steps left; before and after them the bytes between rows of C
//
// The frame, with strides and last (the columns in the last register) in elements:
//
//	(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

// Rows of A at step l.
#define A0 (AX)
#define A1 (AX)(R8*1)
#define A2 (AX)(R8*2)
#define A3 (AX)(R9*1)
#define A4 (AX)(R8*4)
#define A5 (AX)(R10*1)
#define A6 (AX)(R9*2)
#define A7 (AX)(R11*1)

// BLOCKS computes blocks of r rows while there are as many, then goes on to the label after. EACH
// applies a macro to every row of sums in a block:
//
//	ZERO   starts the sums at 0
//	OLD    starts them at C, with the mask that MASK has loaded
//	MADD   adds the row's product with the registers that LOAD filled from B
//	STORE  writes C, with the mask
#define BLOCKS(r, EACH, ZERO, OLD, LOAD, MADD, STORE, block, begun, step, after) \
block: \
	CMPQ R14, $r                  \
	JLT  after                    \
	SUBQ $r, R14                  \
	EACH(ZERO)                    \
	CMPB accumulate+16(FP), $0    \
	JEQ  begun                    \
	ROWOFC                        \
	MOVQ DI, DX                   \
	EACH(OLD)                     \
begun: \
	MOVQ SI, AX                   \
	MOVQ BX, DX                   \
	MOVQ k+8(FP), CX              \
step: \
	LOAD                          \
	EACH(MADD)                    \
	ADDQ R12, AX                  \
	ADDQ R13, DX                  \
	DECQ CX                       \
	JNZ  step                     \
	LEAQ (SI)(R8*r), SI           \
	ROWOFC                        \
	EACH(STORE)                   \
	JMP  block

#define ROWOFC \
	MASK                          \
	MOVQ ldc+72(FP), CX           \
	SHLQ $2, CX

// ARGUMENTS fills the registers that keep their meaning throughout, but for R15.
#define ARGUMENTS \
	MOVQ m+0(FP), R14      \
	MOVQ a+24(FP), SI      \
	MOVQ aRow+32(FP), R8   \
	MOVQ aStep+40(FP), R12 \
	MOVQ b+48(FP), BX      \
	MOVQ ldb+56(FP), R13   \
	MOVQ c+64(FP), DI      \
	MOVQ last+80(FP), CX   \
	SHLQ $2, R8            \
	SHLQ $2, R12           \
	SHLQ $2, R13           \
	LEAQ (R8)(R8*2), R9    \
	LEAQ (R8)(R8*4), R10   \
	LEAQ (R10)(R8*2), R11
