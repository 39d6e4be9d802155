#include "textflag.h"

// Rounding to a grid: see AccumulateGrid. Each step widens a register's worth of float64 from x.
//
//	DI SI  acc and x
//	CX     elements
//	AX BX  elements done, elements in whole registers

// func accumulateGridAVX2(acc []float64, x []float32, magic float64)
TEXT ·accumulateGridAVX2(SB), NOSPLIT, $0-56
	MOVQ acc_base+0(FP), DI
	MOVQ acc_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	VBROADCASTSD magic+48(FP), Y2
	XORL AX, AX
	MOVQ CX, BX
	ANDQ $~3, BX
	JZ   tail

whole:
	VCVTPS2PD (SI)(AX*4), Y0
	VADDPD Y2, Y0, Y0
	VSUBPD Y2, Y0, Y0
	VADDPD (DI)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, BX
	JLT  whole

tail:
	CMPQ AX, CX
	JGE  done
	VCVTSS2SD (SI)(AX*4), X0, X0
	VADDSD X2, X0, X0
	VSUBSD X2, X0, X0
	VADDSD (DI)(AX*8), X0, X0
	VMOVSD X0, (DI)(AX*8)
	INCQ AX
	JMP  tail

done:
	VZEROUPPER
	RET

// func accumulateGridAVX512(acc []float64, x []float32, magic float64)
TEXT ·accumulateGridAVX512(SB), NOSPLIT, $0-56
	MOVQ acc_base+0(FP), DI
	MOVQ acc_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	VBROADCASTSD magic+48(FP), Z2
	XORL AX, AX
	MOVQ CX, BX
	ANDQ $~7, BX
	JZ   tail

whole:
	VCVTPS2PD (SI)(AX*4), Z0
	VADDPD Z2, Z0, Z0
	VSUBPD Z2, Z0, Z0
	VADDPD (DI)(AX*8), Z0, Z0
	VMOVUPD Z0, (DI)(AX*8)
	ADDQ $8, AX
	CMPQ AX, BX
	JLT  whole

tail:
	SUBQ BX, CX
	JZ   done
	MOVL $1, DX
	SHLL CX, DX
	DECL DX
	KMOVW DX, K1
	VMOVUPS.Z (SI)(AX*4), K1, Y0
	VCVTPS2PD Y0, Z0
	VADDPD Z2, Z0, Z0
	VSUBPD Z2, Z0, Z0
	VMOVUPD.Z (DI)(AX*8), K1, Z1
	VADDPD Z1, Z0, Z0
	VMOVUPD Z0, K1, (DI)(AX*8)

done:
	VZEROUPPER
	RET
