package kernel

import (
	"fmt"
	"math"
)

// MaxPool takes the maximum over each kh×kw window of each channel of an image, c×h×w. dst and arg are c×oh×ow with oh
// = (h + 2·padH − kh)/strideH + 1 and ow alike. arg holds the index in img of each maximum; of equal elements it is the
// first in row order. NaN counts as larger than every number, so that it isn't lost. Padding is never a maximum, and
// must be narrower than the window.
//
// On numbers above −MaxFloat32 this agrees with Gorgonia's maxPoolOp (v0.9.18, op_nn.go), which skips NaN.
func MaxPool(dst []float32, arg []int32, img []float32, c, h, w, kh, kw, padH, padW, strideH, strideW int) {
	oh, ow := positions("MaxPool", h, kh, padH, strideH, 1), positions("MaxPool", w, kw, padW, strideW, 1)
	checkLength("MaxPool", "img", len(img), c*h*w)
	checkLength("MaxPool", "dst", len(dst), c*oh*ow)
	checkLength("MaxPool", "arg", len(arg), c*oh*ow)
	if padH >= kh || padW >= kw {
		panic(fmt.Sprintf("kernel: MaxPool: padding %d×%d is not narrower than the window %d×%d", padH, padW, kh, kw))
	}
	if len(img) > math.MaxInt32 {
		panic(fmt.Sprintf("kernel: MaxPool: len(img) is %d, too many for an int32 index", len(img)))
	}
	active.maxPool(dst, arg, img, windows{c, h, w, kh, kw, padH, padW, strideH, strideW, oh, ow})
}

// windows is the geometry of pooling over one image, c×h×w, into c×oh×ow.
type windows struct {
	c, h, w, kh, kw, padH, padW, strideH, strideW, oh, ow int
}

// rows returns the image's rows that the windows of output row oy cover, without bottom.
func (g *windows) rows(oy int) (top, bottom int) {
	first := oy*g.strideH - g.padH
	return max(first, 0), min(first+g.kh, g.h)
}

func maxPoolPlain(dst []float32, arg []int32, img []float32, g windows) {
	if g.kh == 2 && g.kw == 2 && g.padH == 0 && g.padW == 0 {
		maxPoolTwo(dst, arg, img, &g)
		return
	}
	for c := range g.c {
		for oy := range g.oh {
			for ox := range g.ow {
				maxPoolOne(dst, arg, img, &g, c, oy, ox)
			}
		}
	}
}

// maxPoolTwo is maxPoolPlain for windows of two by two without padding.
func maxPoolTwo(dst []float32, arg []int32, img []float32, g *windows) {
	o := 0
	for c := range g.c {
		for oy := range g.oh {
			at := (c*g.h + oy*g.strideH) * g.w
			for range g.ow {
				upper, lower := img[at:at+2], img[at+g.w:at+g.w+2]
				best, where := upper[0], at
				if x := upper[1]; x > best || x != x && best == best {
					best, where = x, at+1
				}
				if x := lower[0]; x > best || x != x && best == best {
					best, where = x, at+g.w
				}
				if x := lower[1]; x > best || x != x && best == best {
					best, where = x, at+g.w+1
				}
				dst[o], arg[o] = best, int32(where)
				o++
				at += g.strideW
			}
		}
	}
}

func maxPoolOne(dst []float32, arg []int32, img []float32, g *windows, c, oy, ox int) {
	top, bottom := g.rows(oy)
	first := ox*g.strideW - g.padW
	left, right := max(first, 0), min(first+g.kw, g.w)
	at := (c*g.h+top)*g.w + left
	best := img[at]
	for y := top; y < bottom; y++ {
		row := (c*g.h + y) * g.w
		for i := row + left; i < row+right; i++ {
			if x := img[i]; x > best || x != x && best == best {
				best, at = x, i
			}
		}
	}
	o := (c*g.oh+oy)*g.ow + ox
	dst[o], arg[o] = best, int32(at)
}

// MaxPoolBackward adds each dy[i] to dst[arg[i]], in ascending i, where arg comes from [MaxPool]. This is the
// gradient with respect to the image.
func MaxPoolBackward(dst, dy []float32, arg []int32) {
	checkLength("MaxPoolBackward", "arg", len(arg), len(dy))
	for i, at := range arg {
		dst[at] += dy[i]
	}
}
