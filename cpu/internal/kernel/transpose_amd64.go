package kernel

// transposeBlocksAVX2 is transpose for rows and cols that are multiples of 8.
//
//go:noescape
func transposeBlocksAVX2(dst *float32, ldd int, a *float32, lda, rows, cols int)

// collectRowsAVX2 copies rows of cols floats, which lie lda apart, so that they follow each other. Both are at least 1.
//
//go:noescape
func collectRowsAVX2(dst, a *float32, lda, rows, cols int)

func transposeAVX2(dst []float32, ldd int, a []float32, lda, rows, cols int) {
	r, c := rows&^7, cols&^7
	if r > 0 && c > 0 {
		transposeBlocksAVX2(&dst[0], ldd, &a[0], lda, r, c)
	} else {
		r, c = 0, 0
	}
	if c < cols && r > 0 {
		transposePlain(dst[c*ldd:], ldd, a[c:], lda, r, cols-c)
	}
	if r < rows {
		transposePlain(dst[r:], ldd, a[r*lda:], lda, rows-r, cols)
	}
}
