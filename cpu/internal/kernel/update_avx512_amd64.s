#include "textflag.h"
#include "go_asm.h"

#define D0 Z0
#define D1 Z1
#define D2 Z2
#define D3 Z3
#define D4 Z4
#define D5 Z5
#define D6 Z6
#define D7 Z7
#define D8 Z8
#define D9 Z9
#define D10 Z10
#define D11 Z11
#define H0 Y0
#define H8 Y8
#define WIDTH 8
#define NARROW(d, h) VCVTPD2PS d, h
#define ROUND(d) VRNDSCALEPD $8, d, d
#include "update_amd64.h"

// The loops of update.go with AVX-512: update_amd64.h holds their bodies.

TEXT ·addUnits8(SB), NOSPLIT, $0-24
	SLICES2(total, units)
	EACHDOUBLE(ADDUNITS)

TEXT ·release8(SB), NOSPLIT, $0-32
	SLICES2(mean, sum)
	RELEASECONSTANTS
	EACHDOUBLE(RELEASESUM)

TEXT ·releaseUnits8(SB), NOSPLIT, $0-32
	SLICES2(mean, units)
	RELEASECONSTANTS
	VXORPS H8, H8, H8
	EACHDOUBLE(RELEASEUNITS)

TEXT ·sgd8(SB), NOSPLIT, $0-32
	SLICES2(params, gradient)
	VBROADCASTSD rate+24(FP), D2
	EACHDOUBLE(DESCEND)

TEXT ·adam8(SB), NOSPLIT, $0-48
	ADAMCONSTANTS
	EACHDOUBLE(ADAM)
