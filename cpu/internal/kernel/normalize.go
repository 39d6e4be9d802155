package kernel

import "math"

// Normalize computes dst[r,c] = (a[r,c] − mean)/√(variance + add) by the mean and the variance of row r; dst and a are
// rows×cols, and the variance divides by cols. The mean is subtracted first, and the variance is that of the
// differences, so that a large mean costs no precision. A row that holds NaN or an infinity, or whose sums overflow,
// becomes NaN.
func Normalize(dst, a []float32, rows, cols int, add float32) {
	checkLength("Normalize", "dst", len(dst), rows*cols)
	checkLength("Normalize", "a", len(a), rows*cols)
	for r := range rows {
		row := dst[r*cols:][:cols]
		by := center(row, a[r*cols:][:cols], add)
		active.mulScalar(row, row, by)
	}
}

// NormalizeBackward computes the gradient of [Normalize] at x from dy, the gradient of its result y:
//
//	dst[r,c] = (dy[r,c] − mean(dy[r]) − y[r,c]·mean(dy[r]∘y[r]))/√(variance + add)
//
// or adds it to dst. All are rows×cols, and dst overlaps no other.
func NormalizeBackward(dst, dy, x []float32, rows, cols int, add float32, accumulate bool) {
	checkLength("NormalizeBackward", "dst", len(dst), rows*cols)
	checkLength("NormalizeBackward", "dy", len(dy), rows*cols)
	checkLength("NormalizeBackward", "x", len(x), rows*cols)
	s := borrow(2 * cols)
	defer s.giveBack()
	y, t := s.floats[:cols], s.floats[cols:]
	for r := range rows {
		row, dy := dst[r*cols:][:cols], dy[r*cols:][:cols]
		by := center(y, x[r*cols:][:cols], add)
		mean := active.sum(dy) / float32(cols)
		// The differences are by times smaller than y, and so is their mean product with dy.
		along := active.dot(dy, y) / float32(cols) * by * by
		active.mulScalar(y, y, -along)
		active.addScalar(t, dy, -mean)
		active.add(t, t, y)
		if accumulate {
			active.mulScalar(t, t, by)
			active.add(row, row, t)
		} else {
			active.mulScalar(row, t, by)
		}
	}
}

// center computes dst[c] = a[c] − mean and returns 1/√(variance + add), which is NaN if the variance overflows.
func center(dst, a []float32, add float32) float32 {
	n := float32(len(a))
	active.addScalar(dst, a, -(active.sum(a) / n))
	variance := active.dot(dst, dst)/n + add
	if variance > math.MaxFloat32 {
		return float32(math.NaN())
	}
	return float32(1 / math.Sqrt(float64(variance)))
}
