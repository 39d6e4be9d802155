package kernel

// panel computes C = alpha·op(A)·B + beta·C for up to three registers of columns, the last with last columns in use:
// gemm_amd64.h. Strides are in elements; m and k are at least 1.
type panel func(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel1AVX2(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel2AVX2(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel3AVX2(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel1AVX512(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel2AVX512(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

//go:noescape
func gemmPanel3AVX512(m, k int, alpha float32, a *float32, aRow, aStep int, b *float32, ldb int, beta float32, c *float32, ldc, last int)

func gemmAVX2(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	gemmByPanels([...]panel{gemmPanel1AVX2, gemmPanel2AVX2, gemmPanel3AVX2}, 8,
		transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func gemmAVX512(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	gemmByPanels([...]panel{gemmPanel1AVX512, gemmPanel2AVX512, gemmPanel3AVX512}, 16,
		transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// gemmByPanels cuts the columns of C into panels. It reads B in place, or copies each panel of Bᵀ first if B is
// transposed.
func gemmByPanels(panels [3]panel, register int, transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	aRow, aStep := lda, 1
	if transA {
		aRow, aStep = 1, lda
	}
	var copied []float32
	if transB {
		s := borrow(k * min(n, len(panels)*register))
		defer s.giveBack()
		copied = s.floats
	}
	for j := 0; j < n; {
		width := panelWidth(n-j, register)
		bj, ld := b[j:], ldb
		if transB {
			transposeAVX2(copied, width, b[j*ldb:], ldb, width, k)
			bj, ld = copied, width
		}
		registers := (width + register - 1) / register
		panels[registers-1](m, k, alpha, &a[0], aRow, aStep, &bj[0], ld, beta, &c[j], ldc, width-(registers-1)*register)
		j += width
	}
}

// panelWidth returns how many of n columns the next panel takes: three registers, or two if three would leave a last
// panel of one register, which has too few sums to hide the latency of an addition.
func panelWidth(n, register int) int {
	if n > 3*register && n <= 4*register {
		return 2 * register
	}
	return min(n, 3*register)
}
