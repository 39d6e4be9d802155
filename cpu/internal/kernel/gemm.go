package kernel

import "gonum.org/v1/gonum/blas/gonum"

// Gemm computes the row-major product
//
//	C = op(A)·op(B), or C + op(A)·op(B) to accumulate        op(A): m×k, op(B): k×n, C: m×n
//
// where op(X) is X, or its transpose if transX is true. Row i of a matrix starts at element i·ldx. Without accumulate C
// is overwritten, and may hold NaN before.
//
// The result depends on the arguments and on [Implementation] alone. An element of C is the same for all m and n, so
// that a sample's values don't depend on the other samples of its microbatch. (Optimized libraries such as OpenBLAS
// give different bits for different m and n.) "avx2" and "avx512" agree bit for bit: an element is one chain of fused
// multiply-adds in ascending order, from zero, or from the old element to accumulate.
func Gemm(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int) {
	checkMatrix("a", len(a), lda, m, k, transA)
	checkMatrix("b", len(b), ldb, k, n, transB)
	checkMatrix("c", len(c), ldc, m, n, false)
	if m > 0 && n > 0 && k > 0 {
		active.product.gemm(transA, transB, m, n, k, a, lda, b, ldb, accumulate, c, ldc)
	} else if !accumulate {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
	}
}

// Implementation returns the name of [Gemm]'s implementation: "avx512" or "avx2" if the processor has it, else "plain".
func Implementation() string { return active.product.name }

// Arithmetic returns the name of the arithmetic that results depend on. Implementations with equal names return equal
// bits.
func Arithmetic() string {
	if active == &plain {
		return "plain"
	}
	return "fused"
}

// product is one implementation of Gemm, for m, n and k of at least 1.
type product struct {
	name string
	gemm func(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int)
}

// checkMatrix panics unless a slice holds the matrix whose op is rows×cols.
func checkMatrix(name string, length, ld, rows, cols int, transposed bool) {
	checkAtLeast("Gemm", "rows of %s", name, rows, 0)
	checkAtLeast("Gemm", "columns of %s", name, cols, 0)
	if transposed {
		rows, cols = cols, rows
	}
	checkAtLeast("Gemm", "ld%s", name, ld, max(cols, 1))
	if rows > 0 && cols > 0 {
		checkAtLeast("Gemm", "len(%s)", name, length, (rows-1)*ld+cols)
	}
}

// Products computes groups products of matrices stored one after another, each as [Gemm] does with matrices without
// gaps. Each C is m×n, and k is at least 1. It checks, and borrows memory, once for all products. That takes a quarter
// of Gemm's time for matrices of 4×4, and a third if B is transposed.
func Products(transA, transB bool, groups, m, n, k int, a, b []float32, accumulate bool, c []float32) {
	for _, size := range [...]int{groups, m, n, k} {
		checkAtLeast("Products", "%s", "a size", size, 1)
	}
	checkLength("Products", "a", len(a), groups*m*k)
	checkLength("Products", "b", len(b), groups*k*n)
	checkLength("Products", "c", len(c), groups*m*n)
	lda, ldb := k, n
	if transA {
		lda = m
	}
	var turned []float32
	if transB {
		s := borrow(k * n)
		defer s.giveBack()
		turned = s.floats
	}
	for g := range groups {
		a, b, c := a[g*m*k:], b[g*k*n:], c[g*m*n:]
		if transB {
			active.transpose(turned, n, b, k, n, k)
			b = turned
		}
		active.product.gemm(transA, false, m, n, k, a, lda, b, ldb, accumulate, c, n)
	}
}

// gemmPlain is the product without assembly, by gonum's Saxpy. An element is a sum of products in ascending
// order. Saxpy treats each element by itself; gonum's own product, for a transposed B, would depend on the address of
// its rows.
//
// Unlike the other implementations it skips a product whose element of op(A) is zero, so that a NaN or an infinity in
// op(B) may not show.
func gemmPlain(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool, c []float32, ldc int) {
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
	if !accumulate {
		for i := range m {
			clear(c[i*ldc:][:n])
		}
	}
	// Blocks of B that stay in a cache while all rows of op(A) go over them.
	const depth, breadth = 128, 256
	for from := 0; from < k; from += depth {
		for j := 0; j < n; j += breadth {
			width := min(breadth, n-j)
			for i := range m {
				sum := c[i*ldc+j:][:width]
				for l := from; l < min(from+depth, k); l++ {
					gonum.Implementation{}.Saxpy(width, a[i*stepRow+l*stepA], b[l*ldb+j:], 1, sum, 1)
				}
			}
		}
	}
}
