package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// gemmGonum is gonum's product, in pieces small enough that gonum computes each on the calling
// goroutine: it starts others from four blocks of 64×64 elements of C.
//
// Unlike the other implementations it skips a product when the element of op(A) is zero, so that a NaN
// or an infinity in op(B) may not show.
func gemmGonum(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	const rows, cols = 64, 192
	for i := 0; i < m; i += rows {
		for j := 0; j < n; j += cols {
			ai, bj := i*lda, j
			if transA {
				ai = i
			}
			if transB {
				bj = j * ldb
			}
			gonum.Implementation{}.Sgemm(blasTranspose(transA), blasTranspose(transB), min(rows, m-i), min(cols, n-j), k,
				alpha, a[ai:], lda, b[bj:], ldb, beta, c[i*ldc+j:], ldc)
		}
	}
}

func blasTranspose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}
