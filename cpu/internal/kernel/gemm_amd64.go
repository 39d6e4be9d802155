package kernel

// panel computes C = op(A)·B, or adds it to C, for up to three registers of columns, the last with last columns in use:
// gemm_amd64.h. Strides are in elements; m and k are at least 1.
type panel func(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel1AVX2(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel2AVX2(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel3AVX2(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel1AVX512(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel2AVX512(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

//go:noescape
func gemmPanel3AVX512(m, k int, accumulate bool, a *float32, aRow, aStep int, b *float32, ldb int, c *float32, ldc, last int)

func gemmAVX2(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int) {
	gemmByPanels([...]panel{gemmPanel1AVX2, gemmPanel2AVX2, gemmPanel3AVX2}, 8,
		transA, transB, m, n, k, a, lda, b, ldb, accumulate, c, ldc)
}

func gemmAVX512(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int) {
	gemmByPanels([...]panel{gemmPanel1AVX512, gemmPanel2AVX512, gemmPanel3AVX512}, 16,
		transA, transB, m, n, k, a, lda, b, ldb, accumulate, c, ldc)
}

// A product is computed in blocks of depth steps of k and at most height rows of A, which stay in the second-level
// cache (at most 768 KB) while one panel of B after another, of at most 96 KB, goes over them.
const (
	depth  = 512
	height = 384
)

// A panel of B is copied if its rows are so far apart that each page holds one or two, and so many rows of A read it
// that the copy pays.
const (
	farApart = 512
	manyRows = 16
)

// gemmByPanels cuts the product into blocks, and the columns of a block into panels. An element's chain goes on from
// block to block. A panel of Bᵀ is copied in the other order, one of B only if that pays.
func gemmByPanels(panels [3]panel, register int, transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int) {
	aRow, aStep := lda, 1
	if transA {
		aRow, aStep = 1, lda
	}
	copies := transB || ldb >= farApart && m >= manyRows
	var copied []float32
	if copies {
		s := borrow(min(k, depth) * min(n, len(panels)*register))
		defer s.giveBack()
		copied = s.floats
	}
	blocks := (m + height - 1) / height
	for from := range blocks {
		i := from * m / blocks
		rows := (from+1)*m/blocks - i
		for l := 0; l < k; l += depth {
			steps := min(depth, k-l)
			for j := 0; j < n; {
				width := panelWidth(n-j, register)
				bj, ld := b, ldb
				switch {
				case transB:
					transposeAVX2(copied, width, b[j*ldb+l:], ldb, width, steps)
				case copies:
					collectRowsAVX2(&copied[0], &b[l*ldb+j], ldb, steps, width)
				default:
					bj = b[l*ldb+j:]
				}
				if copies {
					bj, ld = copied, width
				}
				registers := (width + register - 1) / register
				panels[registers-1](rows, steps, accumulate || l > 0, &a[i*aRow+l*aStep], aRow, aStep, &bj[0], ld,
					&c[i*ldc+j], ldc, width-(registers-1)*register)
				j += width
			}
		}
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
