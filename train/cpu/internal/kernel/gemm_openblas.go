//go:build openblas

package kernel

import (
	"gonum.org/v1/netlib/blas/netlib"

	"github.com/dptrain/dptrain/train/cpu/internal/kernel/openblas"
)

var openBLAS = []product{{"openblas", gemmOpenBLAS}}

func gemmOpenBLAS(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	openblas.UseOneThread()
	netlib.Implementation{}.Sgemm(blasTranspose(transA), blasTranspose(transB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}
