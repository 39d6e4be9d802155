package kernel

// gemmPlain is the product where there is no faster one. An element is a sum of products, each rounded, from zero in
// ascending order, times alpha, plus beta times the old element; nothing is fused, and nothing depends on where in memory
// the matrices lie.
func gemmPlain(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	stepA, stepRow := 1, lda // from one element of op(A)'s row to the next, and from row to row
	if transA {
		stepA, stepRow = lda, 1
	}
	var sums [256]float32
	for i := range m {
		for from := 0; from < n; from += len(sums) {
			sum := sums[:min(len(sums), n-from)]
			clear(sum)
			for l := range k {
				x := a[i*stepRow+l*stepA]
				if transB {
					for j := range sum {
						sum[j] += float32(x * b[(from+j)*ldb+l])
					}
					continue
				}
				row := b[l*ldb+from:][:len(sum)]
				for j := range sum {
					sum[j] += float32(x * row[j])
				}
			}
			out := c[i*ldc+from:][:len(sum)]
			for j, v := range sum {
				v = float32(alpha * v)
				if beta != 0 {
					v += float32(beta * out[j])
				}
				out[j] = v
			}
		}
	}
}
