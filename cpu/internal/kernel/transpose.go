package kernel

// Transpose computes dst[c,r] = a[r,c]; a is rows×cols, dst is cols×rows, and they don't overlap.
func Transpose(dst, a []float32, rows, cols int) {
	checkLength("Transpose", "dst", len(dst), rows*cols)
	checkLength("Transpose", "a", len(a), rows*cols)
	active.transpose(dst, rows, a, cols, rows, cols)
}

func transposePlain(dst []float32, ldd int, a []float32, lda, rows, cols int) {
	for r := range rows {
		for c, x := range a[r*lda : r*lda+cols] {
			dst[c*ldd+r] = x
		}
	}
}
