package kernel

import "math"

// The loops in assembly take rows of whole registers. Other kernels take all other rows, one by one.

//go:noescape
func gatherRows8(dst, table *float32, rows *int32, n, k int)

//go:noescape
func gatherRows16(dst, table *float32, rows *int32, n, k int)

//go:noescape
func repeat8(dst, a *float32, elements, n int)

//go:noescape
func repeat16(dst, a *float32, elements, n int)

//go:noescape
func addEachRow8(dst, a *float32, rows, k int)

//go:noescape
func addEachRow16(dst, a *float32, rows, k int)

//go:noescape
func addToRows8(sum, rows *int32, y *float32, k int, at *int32, n int, x, magic float32, start int32)

//go:noescape
func addToRows16(sum, rows *int32, y *float32, k int, at *int32, n int, x, magic float32, start int32)

func gatherRowsAVX2(dst, table []float32, rows []int32, k int) {
	if k%8 != 0 || len(rows) == 0 {
		gatherRowsPlain(dst, table, rows, k)
		return
	}
	gatherRows8(&dst[0], &table[0], &rows[0], len(rows), k)
}

func gatherRowsAVX512(dst, table []float32, rows []int32, k int) {
	if k%16 != 0 || len(rows) == 0 {
		gatherRowsAVX2(dst, table, rows, k)
		return
	}
	gatherRows16(&dst[0], &table[0], &rows[0], len(rows), k)
}

func repeatAVX2(dst, a []float32, n int) {
	if n%8 != 0 || len(a) == 0 {
		repeatPlain(dst, a, n)
		return
	}
	repeat8(&dst[0], &a[0], len(a), n)
}

func repeatAVX512(dst, a []float32, n int) {
	if n%16 != 0 || len(a) == 0 {
		repeatAVX2(dst, a, n)
		return
	}
	repeat16(&dst[0], &a[0], len(a), n)
}

func addEachRowAVX2(dst, a []float32) {
	if len(dst)%8 != 0 || len(a) == 0 {
		for ; len(a) > 0; a = a[len(dst):] {
			addAVX2(dst, dst, a[:len(dst)])
		}
		return
	}
	addEachRow8(&dst[0], &a[0], len(a)/len(dst), len(dst))
}

func addEachRowAVX512(dst, a []float32) {
	if len(dst)%16 != 0 || len(a) == 0 {
		addEachRowAVX2(dst, a)
		return
	}
	addEachRow16(&dst[0], &a[0], len(a)/len(dst), len(dst))
}

func addToRowsAVX2(sum []int32, rows []int32, x float32, y []float32, k int, at []int32, grid float32) {
	magic := 1.5 * (1 << 23) * grid
	addToRows8(&sum[0], &rows[0], &y[0], k, &at[0], len(at), x, magic, -int32(math.Float32bits(magic)))
}

func addToRowsAVX512(sum []int32, rows []int32, x float32, y []float32, k int, at []int32, grid float32) {
	magic := 1.5 * (1 << 23) * grid
	addToRows16(&sum[0], &rows[0], &y[0], k, &at[0], len(at), x, magic, -int32(math.Float32bits(magic)))
}
