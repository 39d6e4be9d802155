package kernel

// maxPoolRowAVX2 pools n ≥ 1 neighbouring windows of rows×cols at stride 1, none of which touches padding.
// img points at the first window's corner, whose index in the image is index; w is the image's width and
// skip is w − cols.
//
//go:noescape
func maxPoolRowAVX2(dst *float32, arg *int32, n int, img *float32, rows, cols, w int, index, skip int32)

// maxPoolAVX2 leaves the windows at the sides that reach into padding, and strides above 1, to the plain form.
func maxPoolAVX2(dst []float32, arg []int32, img []float32, g windows) {
	inner := g.w - g.kw + 1
	if g.strideW > 1 || inner < 1 {
		maxPoolPlain(dst, arg, img, g)
		return
	}
	for c := range g.c {
		for oy := range g.oh {
			for ox := range g.padW {
				maxPoolOne(dst, arg, img, &g, c, oy, ox)
				maxPoolOne(dst, arg, img, &g, c, oy, g.ow-1-ox)
			}
			top, bottom := g.rows(oy)
			o, i := (c*g.oh+oy)*g.ow+g.padW, (c*g.h+top)*g.w
			maxPoolRowAVX2(&dst[o], &arg[o], inner, &img[i], bottom-top, g.kw, g.w, int32(i), int32(g.w-g.kw))
		}
	}
}
