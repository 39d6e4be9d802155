// Constants as whole registers in memory, which both register widths can take as an operand.

#define CONSTANT(name, value) \
	DATA name<>+0(SB)/4, value  \
	DATA name<>+4(SB)/4, value  \
	DATA name<>+8(SB)/4, value  \
	DATA name<>+12(SB)/4, value \
	DATA name<>+16(SB)/4, value \
	DATA name<>+20(SB)/4, value \
	DATA name<>+24(SB)/4, value \
	DATA name<>+28(SB)/4, value \
	DATA name<>+32(SB)/4, value \
	DATA name<>+36(SB)/4, value \
	DATA name<>+40(SB)/4, value \
	DATA name<>+44(SB)/4, value \
	DATA name<>+48(SB)/4, value \
	DATA name<>+52(SB)/4, value \
	DATA name<>+56(SB)/4, value \
	DATA name<>+60(SB)/4, value \
	GLOBL name<>(SB), RODATA|NOPTR, $64

CONSTANT(one, $0x3f800000)
CONSTANT(sign, $0x80000000)
CONSTANT(bias, $127)

#define ONE one<>(SB)
#define SIGN sign<>(SB)
#define BIAS bias<>(SB)
