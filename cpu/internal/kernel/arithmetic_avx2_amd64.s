#include "textflag.h"
#include "avx2_amd64.h"
#include "constant_amd64.h"
#include "loop_amd64.h"
#include "arithmetic_amd64.h"

// Elementwise loops with AVX2 and FMA: arithmetic_amd64.h holds their bodies.

TEXT ·addAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(ADD)

TEXT ·subAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(SUB)

TEXT ·mulAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(MUL)

TEXT ·divAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(DIV)

TEXT ·mulAddAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(MULADD)

TEXT ·addScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(ADDSCALAR)

TEXT ·mulScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(MULSCALAR)

TEXT ·subFromScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(SUBFROMSCALAR)

TEXT ·divScalarByAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(DIVSCALARBY)

TEXT ·squareAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(SQUARE)

TEXT ·negAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(NEG)

TEXT ·absAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(ABS)

TEXT ·sqrtAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(SQRT)
