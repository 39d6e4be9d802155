package kernel

import "gonum.org/v1/gonum/blas/gonum"

// gemmPlain is the product without assembly, row by row by gonum's Saxpy. An element is a sum of products from zero in
// ascending order, times alpha, plus beta times the old element. Saxpy treats each element by itself; gonum's own
// product, for a transposed B, would depend on the address of its rows.
//
// Unlike the other implementations it skips a product whose element of op(A) is zero, so that a NaN or an infinity in
// op(B) may not show.
func gemmPlain(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if transB {
		s := borrow(k * n)
		defer s.giveBack()
		transposePlain(s.floats, n, b, ldb, n, k)
		b, ldb = s.floats, n
	}
	stepA, stepRow := 1, lda // the strides of op(A) within a row, and between rows
	if transA {
		stepA, stepRow = lda, 1
	}
	sums := borrow(n)
	defer sums.giveBack()
	sum := sums.floats[:n]
	for i := range m {
		clear(sum)
		for l := range k {
			gonum.Implementation{}.Saxpy(n, a[i*stepRow+l*stepA], b[l*ldb:], 1, sum, 1)
		}
		out := c[i*ldc:][:n]
		for j, v := range sum {
			v = float32(alpha * v)
			if beta != 0 {
				v += float32(beta * out[j])
			}
			out[j] = v
		}
	}
}
