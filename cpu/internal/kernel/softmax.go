package kernel

import "math"

// Softmax computes dst[r,c] = exp(a[r,c]) / Σ_c' exp(a[r,c']); dst and a are rows×cols. Each row's maximum
// is subtracted first, so that nothing overflows. A row that holds NaN or +Inf, or nothing but −Inf,
// becomes NaN.
func Softmax(dst, a []float32, rows, cols int) {
	checkLength("Softmax", "dst", len(dst), rows*cols)
	checkLength("Softmax", "a", len(a), rows*cols)
	subtractRowMax(dst, a, rows, cols)
	active.exp(dst, dst)
	for r := range rows {
		row := dst[r*cols : (r+1)*cols]
		active.mulScalar(row, row, 1/active.sum(row))
	}
}

// LogSoftmax computes dst[r,c] = a[r,c] − ln Σ_c' exp(a[r,c']); dst and a are rows×cols. Each row's maximum
// is subtracted first, so that nothing overflows. A row that holds NaN or +Inf, or nothing but −Inf,
// becomes NaN.
func LogSoftmax(dst, a []float32, rows, cols int) {
	checkLength("LogSoftmax", "dst", len(dst), rows*cols)
	checkLength("LogSoftmax", "a", len(a), rows*cols)
	subtractRowMax(dst, a, rows, cols)
	s := borrow(rows * cols)
	defer s.giveBack()
	active.exp(s.floats, dst)
	for r := range rows {
		total := active.sum(s.floats[r*cols : (r+1)*cols])
		row := dst[r*cols : (r+1)*cols]
		active.addScalar(row, row, -float32(math.Log(float64(total))))
	}
}

func subtractRowMax(dst, a []float32, rows, cols int) {
	for r := range rows {
		row := a[r*cols : (r+1)*cols]
		active.addScalar(dst[r*cols:(r+1)*cols], row, -active.maximum(row))
	}
}
