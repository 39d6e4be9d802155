// Loops of rows.go over rows of whole registers, in the vocabulary of avx2_amd64.h or avx512_amd64.h. REGISTER is the
// size of a register in bytes, R9 that of a row.

#define GATHERROWS \
	MOVQ dst+0(FP), DI       \
	MOVQ table+8(FP), R8     \
	MOVQ rows+16(FP), SI     \
	MOVQ n+24(FP), CX        \
	MOVQ k+32(FP), R9        \
	SHLQ $2, R9              \
row: \
	MOVLQSX (SI), AX         \
	IMULQ R9, AX             \
	ADDQ R8, AX              \
	MOVQ R9, BX              \
column: \
	LOAD((AX), V0)           \
	STORE(V0, (DI))          \
	ADDQ $REGISTER, AX       \
	ADDQ $REGISTER, DI       \
	SUBQ $REGISTER, BX       \
	JNZ  column              \
	ADDQ $4, SI              \
	DECQ CX                  \
	JNZ  row                 \
	VZEROUPPER               \
	RET

// Stores each element of a, from SI on, R9 bytes long.
#define REPEAT \
	MOVQ dst+0(FP), DI       \
	MOVQ a+8(FP), SI         \
	MOVQ elements+16(FP), CX \
	MOVQ n+24(FP), R9        \
	SHLQ $2, R9              \
element: \
	VBROADCASTSS (SI), V0    \
	MOVQ R9, BX              \
column: \
	STORE(V0, (DI))          \
	ADDQ $REGISTER, DI       \
	SUBQ $REGISTER, BX       \
	JNZ  column              \
	ADDQ $4, SI              \
	DECQ CX                  \
	JNZ  element             \
	VZEROUPPER               \
	RET

// Adds up one register's columns, then the next's.
#define ADDROWS \
	MOVQ dst+0(FP), DI       \
	MOVQ a+8(FP), SI         \
	MOVQ rows+16(FP), CX     \
	MOVQ k+24(FP), R9        \
	SHLQ $2, R9              \
	MOVQ R9, R10             \
column: \
	LOAD((DI), V0)           \
	MOVQ SI, AX              \
	MOVQ CX, BX              \
row: \
	VADDPS (AX), V0, V0      \
	ADDQ R9, AX              \
	DECQ BX                  \
	JNZ  row                 \
	STORE(V0, (DI))          \
	ADDQ $REGISTER, DI       \
	ADDQ $REGISTER, SI       \
	SUBQ $REGISTER, R10      \
	JNZ  column              \
	VZEROUPPER               \
	RET

// V2 is x, V3 1.5·2²³ times the grid, at whose magnitude a sum rounds to the grid, and V4 its bits, negated. R11 is the
// size of a row's whole registers, and the mask of the others belongs to the loop.
#define ADDTOROWS \
	MOVQ k+24(FP), R9            \
	MOVQ R9, CX                  \
	ANDQ $(LANES-1), CX          \
	SETTAIL                      \
	SHLQ $2, R9                  \
	MOVQ R9, R11                 \
	ANDQ $~(REGISTER-1), R11     \
	MOVQ sum+0(FP), DI           \
	MOVQ rows+8(FP), SI          \
	MOVQ y+16(FP), R8            \
	MOVQ at+32(FP), R10          \
	MOVQ n+40(FP), CX            \
	VBROADCASTSS x+48(FP), V2    \
	VBROADCASTSS magic+52(FP), V3 \
	VPBROADCASTD start+56(FP), V4 \
row: \
	MOVLQSX (R10), AX            \
	ADDQ $4, R10                 \
	MOVLQSX (SI)(AX*4), DX       \
	IMULQ R9, AX                 \
	IMULQ R9, DX                 \
	ADDQ R8, AX                  \
	ADDQ DI, DX                  \
	XORL BX, BX                  \
	CMPQ BX, R11                 \
	JEQ  tail                    \
column: \
	LOAD((AX)(BX*1), V0)         \
	VFMADD213PS V3, V2, V0       \
	VPADDD V4, V0, V0            \
	VPADDD (DX)(BX*1), V0, V0    \
	STORE(V0, (DX)(BX*1))        \
	ADDQ $REGISTER, BX           \
	CMPQ BX, R11                 \
	JLT  column                  \
tail: \
	CMPQ BX, R9                  \
	JEQ  next                    \
	LOADTAIL((AX)(BX*1), V0)     \
	VFMADD213PS V3, V2, V0       \
	VPADDD V4, V0, V0            \
	LOADTAIL((DX)(BX*1), V1)     \
	VPADDD V1, V0, V0            \
	STORETAIL(V0, (DX)(BX*1))    \
next: \
	DECQ CX                      \
	JNZ  row                     \
	VZEROUPPER                   \
	RET
