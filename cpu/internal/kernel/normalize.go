package kernel

import "math"

// Normalize computes dst[r,c] = (a[r,c] − mean)/√(variance + add) by the mean and the variance of row r; dst and a are
// rows×cols, and the variance divides by cols. The mean is subtracted first, and the variance is computed from the
// differences, so that a large mean costs no precision. A row that holds NaN or an infinity, or whose sums overflow,
// becomes NaN.
func Normalize(dst, a []float32, rows, cols int, add float32) {
	checkAtLeast("Normalize", "%s", "rows", rows, 0)
	checkAtLeast("Normalize", "%s", "cols", cols, 1)
	checkLength("Normalize", "dst", len(dst), rows*cols)
	checkLength("Normalize", "a", len(a), rows*cols)
	active.normalize(dst, a, rows, cols, add)
}

// NormalizeBackward computes the gradient of [Normalize] at x from dy, the gradient of its result y:
//
//	dst[r,c] = (dy[r,c] − mean(dy[r]) − y[r,c]·mean(dy[r]∘y[r]))/√(variance + add)
//
// or adds it to dst. All are rows×cols, and dst overlaps no other.
func NormalizeBackward(dst, dy, x []float32, rows, cols int, add float32, accumulate bool) {
	checkAtLeast("NormalizeBackward", "%s", "rows", rows, 0)
	checkAtLeast("NormalizeBackward", "%s", "cols", cols, 1)
	checkLength("NormalizeBackward", "dst", len(dst), rows*cols)
	checkLength("NormalizeBackward", "dy", len(dy), rows*cols)
	checkLength("NormalizeBackward", "x", len(x), rows*cols)
	active.normalizeBackward(dst, dy, x, rows, cols, add, accumulate)
}

// rowLoops holds the loops over a row from which normalisation is composed if it has no kernel of its own. The order of
// operations is part of the definition, and sums are in the order that [Dot] documents.
type rowLoops struct {
	sum                  func(a []float32) float32
	dot                  func(a, b []float32) float32
	addScalar, mulScalar func(dst, a []float32, s float32)
	add                  func(dst, a, b []float32)
}

var plainRows = rowLoops{sumPlain, dotPlain, addScalarPlain, mulScalarPlain, addPlain}

func (l *rowLoops) normalize(dst, a []float32, rows, cols int, add float32) {
	for r := range rows {
		row := dst[r*cols:][:cols]
		l.mulScalar(row, row, l.center(row, a[r*cols:][:cols], add))
	}
}

func (l *rowLoops) normalizeBackward(dst, dy, x []float32, rows, cols int, add float32, accumulate bool) {
	s := borrow(2 * cols)
	defer s.giveBack()
	d, t := s.floats[:cols], s.floats[cols:]
	n := float32(cols)
	for r := range rows {
		row, dy := dst[r*cols:][:cols], dy[r*cols:][:cols]
		by := l.center(d, x[r*cols:][:cols], add)
		// d is y/by, so that y·mean(dy∘y) is d·mean(dy∘d)·by².
		along := l.dot(dy, d) / n * by * by
		l.mulScalar(d, d, -along)
		l.addScalar(t, dy, -(l.sum(dy) / n))
		l.add(t, t, d)
		l.mulScalar(t, t, by)
		if accumulate {
			l.add(row, row, t)
		} else {
			copy(row, t)
		}
	}
}

// center computes dst[c] = a[c] − mean and returns 1/√(variance + add), which is NaN if the variance overflows.
func (l *rowLoops) center(dst, a []float32, add float32) float32 {
	n := float32(len(a))
	l.addScalar(dst, a, -(l.sum(a) / n))
	variance := l.dot(dst, dst)/n + add
	by := 1 / float32(math.Sqrt(float64(variance)))
	return by + (variance - variance) // 0, or NaN
}
