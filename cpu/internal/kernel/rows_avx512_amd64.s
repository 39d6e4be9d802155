#include "textflag.h"
#include "avx512_amd64.h"
#define REGISTER (4*LANES)
#include "rows_amd64.h"

// The loops of rows.go with AVX-512: rows_amd64.h holds them.

TEXT ·gatherRows16(SB), NOSPLIT, $0-40
	GATHERROWS

TEXT ·repeat16(SB), NOSPLIT, $0-32
	REPEAT

TEXT ·addEachRow16(SB), NOSPLIT, $0-32
	ADDROWS

TEXT ·addToRows16(SB), NOSPLIT, $0-60
	ADDTOROWS
