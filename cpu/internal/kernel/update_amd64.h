// Loops of update.go over doubles and what belongs to them. The including file names the registers: D0 to D11 hold
// WIDTH doubles, H0 and H8 are the lower halves of D0 and D8 and hold as many floats or int32s. NARROW rounds doubles
// to floats, ROUND to integers, ties to even.
//
//	DI SI DX BX  the slices
//	CX           elements, a multiple of WIDTH
//	AX           elements done

// EACHDOUBLE runs a loop's body over whole registers.
#define EACHDOUBLE(BODY) \
	XORL AX, AX       \
loop: \
	BODY              \
	ADDQ $WIDTH, AX   \
	CMPQ AX, CX       \
	JLT  loop         \
	VZEROUPPER        \
	RET

#define SLICES2(a, b) \
	MOVQ a+0(FP), DI  \
	MOVQ b+8(FP), SI  \
	MOVQ n+16(FP), CX

#define ADDUNITS \
	VCVTDQ2PD (SI)(AX*4), D0     \
	VADDPD    (DI)(AX*8), D0, D0 \
	VMOVUPD   D0, (DI)(AX*8)

#define RELEASECONSTANTS \
	MOVQ c+24(FP), R8                        \
	VBROADCASTSD NoisyMean_Deviation(R8), D1 \
	VBROADCASTSD NoisyMean_Coarsen(R8), D2   \
	VBROADCASTSD NoisyMean_Mean(R8), D3

// D4 is the sum.
#define RELEASE \
	VMULPD  (DI)(AX*8), D1, D0 \
	ROUND(D0)                  \
	VADDPD  D4, D0, D0         \
	VMULPD  D2, D0, D0         \
	ROUND(D0)                  \
	VMULPD  D3, D0, D0         \
	VMOVUPD D0, (DI)(AX*8)

#define RELEASESUM \
	VMOVUPD (SI)(AX*8), D4 \
	RELEASE

// H8 is 0.
#define RELEASEUNITS \
	VCVTDQ2PD (SI)(AX*4), D4 \
	VMOVUPS   H8, (SI)(AX*4) \
	RELEASE

// D2 is the learning rate.
#define DESCEND \
	VCVTPS2PD (DI)(AX*4), D0     \
	VMULPD    (SI)(AX*8), D2, D1 \
	VSUBPD    D1, D0, D0         \
	NARROW(D0, H0)               \
	VMOVUPS   H0, (DI)(AX*4)

#define ADAMCONSTANTS \
	MOVQ params+0(FP), DI                     \
	MOVQ first+8(FP), SI                      \
	MOVQ second+16(FP), DX                    \
	MOVQ gradient+24(FP), BX                  \
	MOVQ n+32(FP), CX                         \
	MOVQ c+40(FP), R8                         \
	VBROADCASTSD AdamStep_Rate(R8), D5        \
	VBROADCASTSD AdamStep_Beta1(R8), D6       \
	VBROADCASTSD AdamStep_Rest1(R8), D7       \
	VBROADCASTSD AdamStep_Beta2(R8), D8       \
	VBROADCASTSD AdamStep_Rest2(R8), D9       \
	VBROADCASTSD AdamStep_Correction(R8), D10 \
	VBROADCASTSD AdamStep_Epsilon(R8), D11

// D1 is m, D3 is v.
#define ADAM \
	VMOVUPD   (BX)(AX*8), D0 \
	VCVTPS2PD (SI)(AX*4), D1 \
	VMULPD    D6, D1, D1     \
	VMULPD    D7, D0, D2     \
	VADDPD    D2, D1, D1     \
	VCVTPS2PD (DX)(AX*4), D3 \
	VMULPD    D8, D3, D3     \
	VMULPD    D9, D0, D4     \
	VMULPD    D0, D4, D4     \
	VADDPD    D4, D3, D3     \
	NARROW(D1, H0)           \
	VMOVUPS   H0, (SI)(AX*4) \
	NARROW(D3, H0)           \
	VMOVUPS   H0, (DX)(AX*4) \
	VMULPD    D10, D3, D3    \
	VSQRTPD   D3, D3         \
	VADDPD    D11, D3, D3    \
	VMULPD    D5, D1, D1     \
	VDIVPD    D3, D1, D1     \
	VCVTPS2PD (DI)(AX*4), D0 \
	VSUBPD    D1, D0, D0     \
	NARROW(D0, H0)           \
	VMOVUPS   H0, (DI)(AX*4)
