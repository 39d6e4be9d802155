package kernel

import "math"

// outer adds up to two registers of columns, the last with last columns in use: outer_amd64.h. Strides are in elements;
// m and k are at least 1.
type outer func(m, k int, x, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

//go:noescape
func addOuter1AVX2(m, k int, x, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

//go:noescape
func addOuter2AVX2(m, k int, x, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

//go:noescape
func addOuter1AVX512(m, k int, x, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

//go:noescape
func addOuter2AVX512(m, k int, x, y *float32, ldy int, sum *int32, lds, last int, magic float32, start int32)

func addOuterAVX2(sum []int32, x []float32, m int, y []float32, n, k int, grid float32) {
	addOuterByPanels([2]outer{addOuter1AVX2, addOuter2AVX2}, 8, sum, x, m, y, n, k, grid)
}

func addOuterAVX512(sum []int32, x []float32, m int, y []float32, n, k int, grid float32) {
	addOuterByPanels([2]outer{addOuter1AVX512, addOuter2AVX512}, 16, sum, x, m, y, n, k, grid)
}

func addOuterByPanels(panels [2]outer, register int, sum []int32, x []float32, m int, y []float32, n, k int, grid float32) {
	magic := 1.5 * (1 << 23) * grid
	start := int32(-uint32(k) * math.Float32bits(magic)) // each product adds the bits of magic
	for j := 0; j < n; {
		width := min(n-j, 2*register)
		registers := (width + register - 1) / register
		panels[registers-1](m, k, &x[0], &y[j], n, &sum[j], n, width-(registers-1)*register, magic, start)
		j += width
	}
}
