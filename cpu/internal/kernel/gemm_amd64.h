// Macros of the AVX2 and AVX-512 matrix products and sums of outer products. A function computes one
// panel of C, one to three registers wide and m rows high, in blocks of 8 rows (AVX-512 only), 4, 2 and 1:
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
//
// A sum of outer products (AddOuter) has integers in C, and other arguments:
//
//	(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)
//
// Its chains begin at magic, and round down for so many steps, then up. By how much their bits exceed magic's is added
// to C.

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
// applies a macro to every row of sums in a block. BEGIN starts the sums, RUN takes all steps of l, and END writes C.
#define BLOCKS(r, EACH, BEGIN, RUN, END, block, begun, step, turn, again, through, after) \
block: \
	CMPQ R14, $r                  \
	JLT  after                    \
	SUBQ $r, R14                  \
	BEGIN(EACH, begun)            \
	MOVQ SI, AX                   \
	MOVQ BX, DX                   \
	RUN(EACH, step, turn, again, through) \
	LEAQ (SI)(R8*r), SI           \
	END(EACH)                     \
	JMP  block

// MADD adds a row's product with the registers that LOAD filled from B.
#define STEPS(EACH, LOAD, MADD, step) \
step: \
	LOAD                          \
	EACH(MADD)                    \
	ADDQ R12, AX                  \
	ADDQ R13, DX                  \
	DECQ CX                       \
	JNZ  step

// The sums of a product begin at 0 or at C, and are written with the mask that MASK has loaded.
#define ROWOFC \
	MOVQ ldc+72(FP), CX           \
	SHLQ $2, CX

#define BEGIN(EACH, ZERO, OLD, begun) \
	EACH(ZERO)                    \
	CMPB accumulate+16(FP), $0    \
	JEQ  begun                    \
	ROWOFC                        \
	MASK                          \
	MOVQ DI, DX                   \
	EACH(OLD)                     \
begun:

#define RUN(EACH, LOAD, MADD, step) MOVQ k+8(FP), CX; STEPS(EACH, LOAD, MADD, step)
#define END(EACH, STORE) ROWOFC; MASK; EACH(STORE)

// Sums of outer products: BEGINOUTER asks for rows of C, which may be far away. They are all added before one is
// written, since a masked store holds up loads behind it.
#define ROWOFSUM \
	MOVQ lds+72(FP), CX           \
	SHLQ $2, CX

#define BEGINOUTER(EACH, FETCH, START) \
	ROWOFSUM                      \
	MOVQ DI, DX                   \
	EACH(FETCH)                   \
	MAGIC                         \
	EACH(START)

#define RUNOUTER(EACH, LOAD, DOWN, UP, step, turn, again, through) \
	MOVQ down+8(FP), CX           \
	TESTQ CX, CX                  \
	JZ   turn                     \
	ROUNDDOWN                     \
	STEPS(EACH, LOAD, DOWN, step) \
turn: \
	MOVQ up+88(FP), CX            \
	TESTQ CX, CX                  \
	JZ   through                  \
	ROUNDUP                       \
	STEPS(EACH, LOAD, UP, again)  \
through:

#define ENDOUTER(EACH, ADD, STORE) \
	ROWOFSUM                      \
	MASK                          \
	MAGIC                         \
	MOVQ DI, DX                   \
	EACH(ADD)                     \
	EACH(STORE)

#define BEGIN1(EACH, begun) BEGIN(EACH, ZERO1, OLD1, begun)
#define BEGIN2(EACH, begun) BEGIN(EACH, ZERO2, OLD2, begun)
#define BEGIN3(EACH, begun) BEGIN(EACH, ZERO3, OLD3, begun)
#define RUN1(EACH, step, turn, again, through) RUN(EACH, LOAD1, MADD1, step)
#define RUN2(EACH, step, turn, again, through) RUN(EACH, LOAD2, MADD2, step)
#define RUN3(EACH, step, turn, again, through) RUN(EACH, LOAD3, MADD3, step)
#define END1(EACH) END(EACH, STORE1)
#define END2(EACH) END(EACH, STORE2)
#define END3(EACH) END(EACH, STORE3)

#define BEGINOUTER1(EACH, begun) BEGINOUTER(EACH, FETCH1, START1)
#define BEGINOUTER2(EACH, begun) BEGINOUTER(EACH, FETCH2, START2)
#define BEGINOUTER3(EACH, begun) BEGINOUTER(EACH, FETCH3, START3)
#define RUNOUTER1(EACH, step, turn, again, through) RUNOUTER(EACH, LOAD1, DOWN1, UP1, step, turn, again, through)
#define RUNOUTER2(EACH, step, turn, again, through) RUNOUTER(EACH, LOAD2, DOWN2, UP2, step, turn, again, through)
#define RUNOUTER3(EACH, step, turn, again, through) RUNOUTER(EACH, LOAD3, DOWN3, UP3, step, turn, again, through)
#define ENDOUTER1(EACH) ENDOUTER(EACH, ADD1, STORE1)
#define ENDOUTER2(EACH) ENDOUTER(EACH, ADD2, STORE2)
#define ENDOUTER3(EACH) ENDOUTER(EACH, ADD3, STORE3)

// ARGUMENTS fills the registers that keep their meaning throughout, but for R15.
#define ARGUMENTS(a, aRow, aStep, b, ldb, c) \
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
