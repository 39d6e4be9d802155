package walk

import "github.com/dptrain/dptrain/internal/compile"

// maxPooled is the maximum number of rows and columns of a pooling's window: two of them are packed in an integer.
const maxPooled = 1<<15 - 1

// stretch is the pixels in a window, or the windows that contain a pixel, along one dimension.
type stretch struct{ first, count int }

// windowPixels returns, for each window along a dimension, its pixels within the image.
func windowPixels(windows, size, pad, stride, image int) []stretch {
	out := make([]stretch, windows)
	for o := range out {
		first := max(0, o*stride-pad)
		out[o] = stretch{first, min(o*stride-pad+size, image) - first}
	}
	return out
}

// pixelWindows returns, for each pixel along a dimension, the windows that contain it, which are consecutive. For
// windows of two pixels it always returns two, of which one may not contain the pixel and then has another maximum.
func pixelWindows(windows, size, pad, stride, image int) []stretch {
	out := make([]stretch, image)
	for o, s := range windowPixels(windows, size, pad, stride, image) {
		for y := s.first; y < s.first+s.count; y++ {
			if out[y].count == 0 {
				out[y].first = o
			}
			out[y].count++
		}
	}
	if size == 2 && windows > 1 {
		for y := range out {
			out[y] = stretch{min(out[y].first, windows-2), 2}
		}
	}
	return out
}

// rectangles returns a pooling's table, which program.cuh describes: for each window of a plane its pixels or, for the
// backward pass, for each pixel the windows that contain it. An entry is two integers: the index of the first, then
// their rows, shifted left by 16 bits, and columns.
func rectangles(w *compile.Window, back bool) []int32 {
	along, width := windowPixels, w.W
	if back {
		along, width = pixelWindows, w.OutW
	}
	rows := along(w.OutH, w.KH, w.PadH, w.StrideH, w.H)
	columns := along(w.OutW, w.KW, w.PadW, w.StrideW, w.W)
	out := make([]int32, 0, 2*len(rows)*len(columns))
	for _, r := range rows {
		for _, c := range columns {
			out = append(out, int32(r.first*width+c.first), int32(r.count<<16|c.count))
		}
	}
	return out
}
