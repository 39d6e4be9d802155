package kernel

// ScaleRows computes dst[r,c] = s[r]·a[r,c]; dst and a are rows×cols.
func ScaleRows(dst, a []float32, rows, cols int, s []float32) {
	checkLength("ScaleRows", "dst", len(dst), rows*cols)
	checkLength("ScaleRows", "a", len(a), rows*cols)
	checkLength("ScaleRows", "s", len(s), rows)
	for r := range rows {
		active.mulScalar(dst[r*cols:(r+1)*cols], a[r*cols:(r+1)*cols], s[r])
	}
}
