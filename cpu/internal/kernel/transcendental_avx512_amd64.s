#include "textflag.h"
#include "avx512_amd64.h"
#include "constant_amd64.h"
#include "loop_amd64.h"
#include "transcendental_amd64.h"

TEXT ·expAVX512(SB), NOSPLIT, $0-48
	UNARY
	EACH(EXP)

TEXT ·tanhAVX512(SB), NOSPLIT, $0-48
	UNARY
	EACH(TANH)

TEXT ·sigmoidAVX512(SB), NOSPLIT, $0-48
	UNARY
	EACH(SIGMOID)

TEXT ·logAVX512(SB), NOSPLIT, $0-48
	UNARY
	EACH(LOG)
