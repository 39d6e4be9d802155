#include "textflag.h"
#include "avx2_amd64.h"
#define REGISTER (4*LANES)
#include "rows_amd64.h"

// The loops of rows.go with AVX2 and FMA: rows_amd64.h holds them.

TEXT ·gatherRows8(SB), NOSPLIT, $0-40
	GATHERROWS

TEXT ·repeat8(SB), NOSPLIT, $0-32
	REPEAT

TEXT ·addEachRow8(SB), NOSPLIT, $0-32
	ADDROWS

TEXT ·addToRows8(SB), NOSPLIT, $0-60
	ADDTOROWS
