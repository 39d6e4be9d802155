#include "textflag.h"
#include "avx512_amd64.h"
#include "constant_amd64.h"
#include "loop_amd64.h"
#include "compare_amd64.h"

// Comparisons and dropout: compare_amd64.h holds the bodies of their loops.

TEXT ·largerAVX512(SB), NOSPLIT, $0-72
	BINARY
	EACH(LARGER)

TEXT ·smallerAVX512(SB), NOSPLIT, $0-72
	BINARY
	EACH(SMALLER)

TEXT ·atLeastAVX512(SB), NOSPLIT, $0-72
	BINARY
	EACH(ATLEAST)

TEXT ·largerScalarAVX512(SB), NOSPLIT, $0-52
	SCALAR
	EACH(LARGERSCALAR)

TEXT ·smallerScalarAVX512(SB), NOSPLIT, $0-52
	SCALAR
	EACH(SMALLERSCALAR)

TEXT ·atLeastScalarAVX512(SB), NOSPLIT, $0-52
	SCALAR
	EACH(ATLEASTSCALAR)

TEXT ·atMostScalarAVX512(SB), NOSPLIT, $0-52
	SCALAR
	EACH(ATMOSTSCALAR)

TEXT ·dropoutAVX512(SB), NOSPLIT, $0-80
	DRAWN
	EACH(DROPOUT)

TEXT ·addDropoutAVX512(SB), NOSPLIT, $0-80
	DRAWN
	EACH(ADDDROPOUT)
