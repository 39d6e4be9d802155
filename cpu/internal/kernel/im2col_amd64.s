#include "go_asm.h"
#include "textflag.h"
#include "avx2_amd64.h"

// Patches of an image to and from rows of a matrix, one kernel row at a time, of at most eight columns
// dense in the image. (AVX-512 is slower here: its masked stores cross more cache lines.)
//
//	DI       the matrix
//	R15 SI   the image under the corner of the first patch of a row of patches, of the patch at hand
//	AX BX    the image under the channel at hand, the kernel row at hand
//	R11      bytes in a kernel row
//	R9 R10   bytes between the image's kernel rows, channels
//	R13 R12  rows of patches left, patches left
//	DX CX    channels left, kernel rows left
//	R14      geometry

// EACHROW runs BODY for every kernel row in the order of the matrix.
#define EACHROW(BODY) \
	MOVQ col+0(FP), DI            \
	MOVQ img+8(FP), R15           \
	MOVQ geometry+16(FP), R14     \
	MOVQ patches_kw(R14), CX      \
	LEAQ (CX*4), R11              \
	SETTAIL                       \
	MOVQ patches_width(R14), R9   \
	SHLQ $2, R9                   \
	MOVQ R9, R10                  \
	IMULQ patches_dilH(R14), R9   \
	IMULQ patches_height(R14), R10 \
	MOVQ patches_rows(R14), R13   \
rows: \
	MOVQ R15, SI                  \
	MOVQ patches_cols(R14), R12   \
cols: \
	MOVQ SI, AX                   \
	MOVQ patches_channels(R14), DX \
channels: \
	MOVQ AX, BX                   \
	MOVQ patches_kh(R14), CX      \
kernel: \
	BODY                          \
	ADDQ R11, DI                  \
	ADDQ R9, BX                   \
	DECQ CX                       \
	JNZ  kernel                   \
	ADDQ R10, AX                  \
	DECQ DX                       \
	JNZ  channels                 \
	MOVQ patches_strideW(R14), AX \
	LEAQ (SI)(AX*4), SI           \
	DECQ R12                      \
	JNZ  cols                     \
	MOVQ patches_strideH(R14), AX \
	IMULQ patches_width(R14), AX  \
	LEAQ (R15)(AX*4), R15         \
	DECQ R13                      \
	JNZ  rows                     \
	VZEROUPPER                    \
	RET

#define COPY LOADTAIL((BX), V0); STORETAIL(V0, (DI))
#define ADD LOADTAIL((BX), V0); LOADTAIL((DI), V1); VADDPS V1, V0, V0; STORETAIL(V0, (BX))

// func copyRowsAVX2(col, img *float32, geometry *patches)
TEXT ·copyRowsAVX2(SB), NOSPLIT, $0-24
	EACHROW(COPY)

// func addRowsAVX2(col, img *float32, geometry *patches)
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-24
	EACHROW(ADD)
