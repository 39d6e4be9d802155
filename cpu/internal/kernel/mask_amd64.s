#include "textflag.h"

// prefixMask+32−4n selects the first n of eight elements, as AVX2's masked moves want it.
DATA ·prefixMask+0(SB)/8, $-1
DATA ·prefixMask+8(SB)/8, $-1
DATA ·prefixMask+16(SB)/8, $-1
DATA ·prefixMask+24(SB)/8, $-1
GLOBL ·prefixMask(SB), RODATA|NOPTR, $64
