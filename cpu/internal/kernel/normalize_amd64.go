package kernel

var avx2Rows = rowLoops{sumAVX2, dotAVX2, addScalarAVX2, mulScalarAVX2, addAVX2}

//go:noescape
func normalizeRows(dst, a *float32, rows, cols int, add float32)

//go:noescape
func normalizeRowsBack(dst, dy, x *float32, rows, cols int, add float32, accumulate bool)

func normalizeAVX512(dst, a []float32, rows, cols int, add float32) {
	if rows > 0 {
		normalizeRows(&dst[0], &a[0], rows, cols, add)
	}
}

func normalizeBackwardAVX512(dst, dy, x []float32, rows, cols int, add float32, accumulate bool) {
	if rows > 0 {
		normalizeRowsBack(&dst[0], &dy[0], &x[0], rows, cols, add, accumulate)
	}
}
