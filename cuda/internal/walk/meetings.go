package walk

import "github.com/dptrain/dptrain/internal/compile"

// meetings returns the table that a convolution's backward pass reads for one dimension of an image: for each residue
// of pixels modulo the stride, the words of meeting in program.cuh. Pixels with the same residue meet the same elements
// of the window. before is the padding before the gradient's first position.
func meetings(size, pad, stride, dilation, image, before int) []int32 {
	common := stride
	for rest := dilation; rest != 0; {
		common, rest = rest, common%rest
	}
	var out []int32
	for pixel := range min(stride, image) {
		w := make([]int32, MeetingWords)
		first := 0
		for first < size && first*dilation%stride != (pixel+pad)%stride {
			first++
		}
		w[MeetingPixels] = int32((image - pixel + stride - 1) / stride)
		if first < size {
			w[MeetingFirst], w[MeetingStep], w[MeetingBack] = int32(first), int32(stride/common), int32(dilation/common)
			w[MeetingCount] = int32((size - first + stride/common - 1) / (stride / common))
			w[MeetingPosition] = int32((pixel+pad-first*dilation)/stride + before)
		}
		out = append(out, w...)
	}
	return out
}

// offsets returns the table by which a convolution and its filters' gradient read an image: the index of the first
// pixel at each of the window's positions, then the offset of each element of the window from its first pixel, then two
// zeros that are read ahead.
func offsets(w *compile.Window) []int32 {
	var out []int32
	for y := range w.OutH {
		for x := range w.OutW {
			out = append(out, int32(y*w.StrideH*w.W+x*w.StrideW))
		}
	}
	for c := range w.C {
		for i := range w.KH {
			for j := range w.KW {
				out = append(out, int32((c*w.H+i*w.DilationH)*w.W+j*w.DilationW))
			}
		}
	}
	return append(out, 0, 0)
}
