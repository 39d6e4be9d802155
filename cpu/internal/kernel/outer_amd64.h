// Macros of the AVX2 and AVX-512 sums of outer products: see AddOuter. A function computes one panel of
// the sum, one or two registers wide and m rows high, in blocks of 4 rows and 1. A block's sums stay in
// registers while l runs once over x and y. A step's products don't wait for those of the step before,
// only whole additions do, so that few sums suffice to keep the multipliers busy.
//
//	SI       x at the block's first row; AX follows it over l
//	BX       y panel; DX follows it over l
//	DI       the sum at the row to store next; DX runs ahead of it to read the old sum
//	R12      bytes between pairs of x
//	R13      bytes between pairs of y
//	R9       bytes between rows of the sum
//	R14      rows left
//	R15      AVX2: the mask of the last register
//	CX       steps left
//
// The frame, with strides and last (the columns in the last register) in elements:
//
//	(m, k int, x *float32, ldx int, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

// BLOCKS adds blocks of r rows while there are as many, then goes on to the label after. EACH applies a
// macro to every row of sums in a block:
//
//	FETCH  asks for the old sum, which may be far away
//	START  starts the sums
//	MADD   adds the row's rounded products with the registers that LOAD filled from y
//	OLD    adds the old sum
//	STORE  writes the sum; after every OLD of the block, since a masked store holds up loads behind it
#define BLOCKS(r, EACH, FETCH, START, LOAD, MADD, OLD, STORE, block, step, after) \
block: \
	CMPQ R14, $r         \
	JLT  after           \
	SUBQ $r, R14         \
	MOVQ DI, DX          \
	EACH(FETCH)          \
	EACH(START)          \
	MOVQ SI, AX          \
	MOVQ BX, DX          \
	MOVQ k+8(FP), CX     \
step: \
	LOAD                 \
	EACH(MADD)           \
	ADDQ R12, AX         \
	ADDQ R13, DX         \
	DECQ CX              \
	JNZ  step            \
	ADDQ $(4*r), SI      \
	MOVQ DI, DX          \
	EACH(OLD)            \
	EACH(STORE)          \
	JMP  block

// ARGUMENTS fills the registers that keep their meaning throughout, but for R15.
#define ARGUMENTS \
	MOVQ m+0(FP), R14     \
	MOVQ x+16(FP), SI     \
	MOVQ ldx+24(FP), R12  \
	MOVQ y+32(FP), BX     \
	MOVQ ldy+40(FP), R13  \
	MOVQ sum+48(FP), DI   \
	MOVQ lds+56(FP), R9   \
	MOVQ last+64(FP), CX  \
	SHLQ $2, R12          \
	SHLQ $2, R13          \
	SHLQ $2, R9
