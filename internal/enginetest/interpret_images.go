package enginetest

import (
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// eachTap calls f for each output position and each element of the window there that is inside the image: the position
// of the output among the outputs of one channel, of the element in the image, and of the tap in a filter.
func eachTap(w *compile.Window, f func(out, pixel, tap, channel int)) {
	for oh := range w.OutH {
		for ow := range w.OutW {
			for c := range w.C {
				for i := range w.KH {
					for j := range w.KW {
						h, v := oh*w.StrideH-w.PadH+i*w.DilationH, ow*w.StrideW-w.PadW+j*w.DilationW
						if h >= 0 && h < w.H && v >= 0 && v < w.W {
							f(oh*w.OutW+ow, (c*w.H+h)*w.W+v, (c*w.KH+i)*w.KW+j, c)
						}
					}
				}
			}
		}
	}
}

func convolved(x, filters []float64, w *compile.Window) []float64 {
	positions, patch := w.OutH*w.OutW, w.C*w.KH*w.KW
	z := make([]float64, w.OutC*positions)
	for o := range w.OutC {
		eachTap(w, func(out, pixel, tap, _ int) { z[o*positions+out] += filters[o*patch+tap] * x[pixel] })
	}
	return z
}

func convolvedBack(d, filters []float64, w *compile.Window) []float64 {
	positions, patch := w.OutH*w.OutW, w.C*w.KH*w.KW
	z := make([]float64, w.C*w.H*w.W)
	for o := range w.OutC {
		eachTap(w, func(out, pixel, tap, _ int) { z[pixel] += filters[o*patch+tap] * d[o*positions+out] })
	}
	return z
}

func filterGradient(d, x []float64, w *compile.Window) []float64 {
	positions, patch := w.OutH*w.OutW, w.C*w.KH*w.KW
	z := make([]float64, w.OutC*patch)
	for o := range w.OutC {
		eachTap(w, func(out, pixel, tap, _ int) { z[o*patch+tap] += d[o*positions+out] * x[pixel] })
	}
	return z
}

// pooled returns the maximum of each window and its position, the first of equals; a NaN is larger than all numbers.
func pooled(x []float64, w *compile.Window) ([]float64, []int) {
	positions := w.OutH * w.OutW
	z, where := make([]float64, w.C*positions), make([]int, w.C*positions)
	for i := range where {
		z[i], where[i] = math.Inf(-1), -1
	}
	eachTap(w, func(out, pixel, _, channel int) {
		at := channel*positions + out
		if v := x[pixel]; where[at] < 0 || v > z[at] || v != v && z[at] == z[at] {
			z[at], where[at] = v, pixel
		}
	})
	return z, where
}
