#include "textflag.h"
#include "avx2_amd64.h"
#include "constant_amd64.h"
#include "loop_amd64.h"
#include "transcendental_amd64.h"

TEXT ·expAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(EXP)

TEXT ·tanhAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(TANH)

TEXT ·sigmoidAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(SIGMOID)

TEXT ·logAVX2(SB), NOSPLIT, $0-48
	UNARY
	EACH(LOG)
