package kernel

// outer adds up to three registers of columns, the last with last columns in use: gemm_amd64.h. Strides are in
// elements; m is at least 1.
type outer func(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter1AVX2(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter2AVX2(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter3AVX2(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter1AVX512(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter2AVX512(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

//go:noescape
func addOuter3AVX512(m, down int, magic float32, x *float32, xRow, xStep int, y *float32, ldy int, sum *int32, lds, last, up int)

func addOuterAVX2(sum []int32, x []float32, m int, y []float32, n, down, up int, grid float32) {
	addOuterByPanels([3]outer{addOuter1AVX2, addOuter2AVX2, addOuter3AVX2}, 8, sum, x, m, y, n, down, up, grid)
}

func addOuterAVX512(sum []int32, x []float32, m int, y []float32, n, down, up int, grid float32) {
	addOuterByPanels([3]outer{addOuter1AVX512, addOuter2AVX512, addOuter3AVX512}, 16, sum, x, m, y, n, down, up, grid)
}

// Wide sums are computed from copies of x and y, in strips of strip elements of x and panels of y. So the pairs of a
// block follow each other in the first-level cache, where pairs of whole rows are pages apart. The rows of the sum are
// pages apart too: all panels go over nearRows of them, of which the core remembers the pages, before the next come.
const (
	strip    = 16
	nearRows = 48 * strip
	wideSums = 1 << 18 // from this many elements of a sum on
)

func addOuterByPanels(panels [3]outer, register int, sum []int32, x []float32, m int, y []float32, n, down, up int, grid float32) {
	magic := 1.5 * (1 << 23) * grid
	k := down + up
	copies := m*n >= wideSums && m >= strip && n >= strip
	rows, near, ldx, ldy := m, m, m, n
	var panel []float32
	if copies {
		s := borrow(k * (m + len(panels)*register))
		defer s.giveBack()
		panel = s.floats[k*m:]
		x = strips(s.floats[:k*m], x, m, k)
		rows, near = strip, nearRows
	}
	for from := 0; from < m; from += near {
		for j := 0; j < n; {
			width := panelWidth(n-j, register)
			registers := (width + register - 1) / register
			yj := y[j:]
			if copies {
				collectRowsAVX2(&panel[0], &y[j], n, k, width)
				yj, ldy = panel, width
			}
			for i := from; i < min(from+near, m); i += rows {
				height, xi := min(rows, m-i), x[i:]
				if copies {
					xi, ldx = x[i*k:], height
				}
				panels[registers-1](height, down, magic, &xi[0], 1, ldx, &yj[0], ldy, &sum[i*n+j], n, width-(registers-1)*register, up)
			}
			j += width
		}
	}
}

// strips copies k rows of m elements as strips, one after another, of k rows of strip elements.
func strips(dst, x []float32, m, k int) []float32 {
	for i := 0; i < m; i += strip {
		width := min(strip, m-i)
		collectRowsAVX2(&dst[i*k], &x[i], m, k, width)
	}
	return dst
}
