#include "textflag.h"
#include "go_asm.h"

#define D0 Y0
#define D1 Y1
#define D2 Y2
#define D3 Y3
#define D4 Y4
#define D5 Y5
#define D6 Y6
#define D7 Y7
#define D8 Y8
#define D9 Y9
#define D10 Y10
#define D11 Y11
#define H0 X0
#define H8 X8
#define WIDTH 4
#define NARROW(d, h) VCVTPD2PSY d, h
#define ROUND(d) VROUNDPD $8, d, d
#include "update_amd64.h"

// The loops of update.go with AVX2: update_amd64.h holds their bodies.

TEXT ·addUnits4(SB), NOSPLIT, $0-24
	SLICES2(total, units)
	EACHDOUBLE(ADDUNITS)

TEXT ·release4(SB), NOSPLIT, $0-32
	SLICES2(mean, sum)
	RELEASECONSTANTS
	EACHDOUBLE(RELEASESUM)

TEXT ·releaseUnits4(SB), NOSPLIT, $0-32
	SLICES2(mean, units)
	RELEASECONSTANTS
	VXORPS H8, H8, H8
	EACHDOUBLE(RELEASEUNITS)

TEXT ·sgd4(SB), NOSPLIT, $0-32
	SLICES2(params, gradient)
	VBROADCASTSD rate+24(FP), D2
	EACHDOUBLE(DESCEND)

TEXT ·adam4(SB), NOSPLIT, $0-48
	ADAMCONSTANTS
	EACHDOUBLE(ADAM)
