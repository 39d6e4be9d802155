package kernel

import "math"

// GatherRows copies rows of a table, k values each: dst[r,c] = table[rows[r],c].
func GatherRows(dst, table []float32, rows []int32, k int) {
	checkLength("GatherRows", "dst", len(dst), len(rows)*k)
	if k == 0 {
		return
	}
	have := len(table) / k
	for _, v := range rows {
		if uint(v) >= uint(have) {
			tooLarge("GatherRows", "rows", int(v), have)
		}
	}
	active.gatherRows(dst, table, rows, k)
}

func gatherRowsPlain(dst, table []float32, rows []int32, k int) {
	for r, v := range rows {
		copy(dst[r*k:][:k], table[int(v)*k:][:k])
	}
}

// Repeat repeats each element n times: dst[i,j] = a[i].
func Repeat(dst, a []float32, n int) {
	checkAtLeast("Repeat", "%s", "n", n, 1)
	checkLength("Repeat", "dst", len(dst), len(a)*n)
	active.repeat(dst, a, n)
}

func repeatPlain(dst, a []float32, n int) {
	for i, v := range a {
		row := dst[i*n:][:n]
		for j := range row {
			row[j] = v
		}
	}
}

// AddEachRow adds rows, one after the other: dst[c] += a[r,c]. Each sum is rounded. a has a whole number of rows and
// doesn't overlap dst.
func AddEachRow(dst, a []float32) {
	checkAtLeast("AddEachRow", "len(%s)", "dst", len(dst), 1)
	checkLength("AddEachRow", "a", len(a)%len(dst), 0)
	active.addEachRow(dst, a)
}

func addEachRowPlain(dst, a []float32) {
	for ; len(a) > 0; a = a[len(dst):] {
		addPlain(dst, dst, a[:len(dst)])
	}
}

// MergeRows adds row r of a, with k values, to row into[r] ≤ r and then clears row r, for r = 0, 1, …, unless into[r]
// is r. Each sum is rounded.
func MergeRows(a []float32, into []int32, k int) {
	checkAtLeast("MergeRows", "%s", "k", k, 1)
	checkLength("MergeRows", "a", len(a), len(into)*k)
	for r := 0; r < len(into); {
		to, end := int(into[r]), r+1
		if uint(to) > uint(r) {
			tooLarge("MergeRows", "into", to, r+1)
		}
		if to < r {
			for end < len(into) && int(into[end]) == to { // as in padding
				end++
			}
			active.addEachRow(a[to*k:][:k], a[r*k:end*k])
			clear(a[r*k : end*k])
		}
		r = end
	}
}

// AddToRows adds multiples of some rows of y to rows of a table of whole numbers, k values in each. For each r of at,
//
//	sum[rows[r],c] += round(x·y[r,c] / grid)
//
// to nearest, ties to even; a product is rounded once. Otherwise grid and limits are those of [AddOuter].
func AddToRows(sum []int32, rows []int32, x float32, y []float32, k int, at []int32, grid float64) {
	checkAtLeast("AddToRows", "%s", "k", k, 1)
	checkLength("AddToRows", "y", len(y), len(rows)*k)
	checkGrid("AddToRows", grid)
	have := len(sum) / k
	for _, r := range at {
		if v := rows[r]; uint(v) >= uint(have) {
			tooLarge("AddToRows", "rows", int(v), have)
		}
	}
	if len(at) > 0 {
		active.addToRows(sum, rows, x, y, k, at, float32(grid))
	}
}

func addToRowsPlain(sum []int32, rows []int32, x float32, y []float32, k int, at []int32, grid float32) {
	per := float64(x) / float64(grid)
	for _, r := range at {
		out := sum[int(rows[r])*k:][:k]
		for c, v := range y[int(r)*k:][:k] {
			out[c] += int32(math.RoundToEven(per * float64(v)))
		}
	}
}

// ScaleRows computes dst[r,c] = s[r]·a[r,c]; dst and a are rows×cols.
func ScaleRows(dst, a []float32, rows, cols int, s []float32) {
	checkLength("ScaleRows", "dst", len(dst), rows*cols)
	checkLength("ScaleRows", "a", len(a), rows*cols)
	checkLength("ScaleRows", "s", len(s), rows)
	for r := range rows {
		active.mulScalar(dst[r*cols:(r+1)*cols], a[r*cols:(r+1)*cols], s[r])
	}
}
