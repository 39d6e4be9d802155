#include "textflag.h"
#include "avx2_amd64.h"
#include "constant_amd64.h"
#include "loop_amd64.h"
#include "compare_amd64.h"

// Comparisons and dropout: compare_amd64.h holds the bodies of their loops.

TEXT ·largerAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(LARGER)

TEXT ·smallerAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(SMALLER)

TEXT ·atLeastAVX2(SB), NOSPLIT, $0-72
	BINARY
	EACH(ATLEAST)

TEXT ·largerScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(LARGERSCALAR)

TEXT ·smallerScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(SMALLERSCALAR)

TEXT ·atLeastScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(ATLEASTSCALAR)

TEXT ·atMostScalarAVX2(SB), NOSPLIT, $0-52
	SCALAR
	EACH(ATMOSTSCALAR)

TEXT ·dropoutAVX2(SB), NOSPLIT, $0-80
	DRAWN
	EACH(DROPOUT)

TEXT ·addDropoutAVX2(SB), NOSPLIT, $0-80
	DRAWN
	EACH(ADDDROPOUT)
