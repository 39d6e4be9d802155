package kernel

import "fmt"

// Im2col lays out the patches of one image, c×h×w, as the rows of a matrix: dst is (oh·ow)×(c·kh·kw). Its row oy·ow+ox
// holds the patch under the kernel at output position (oy, ox), channel by channel, row by row. oh = (h + 2·padH −
// dilH·(kh−1) − 1)/strideH + 1, and ow likewise. Elements in the padding are zero. This is the layout of Gorgonia's
// im2colOp.
func Im2col(dst, img []float32, c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW int) {
	g := newPatches("Im2col", c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW)
	g.check("Im2col", dst, img, "dst", "img")
	if !g.padded() {
		active.copyPatches(dst, img, g)
		return
	}
	s := borrow(g.paddedSize())
	defer s.giveBack()
	g.pad(s.floats, img)
	active.copyPatches(dst, s.floats, g)
}

// Col2im is the adjoint of [Im2col]: it adds every element of col to the element of dst that Im2col copies it from. dst
// is an image, c×h×w.
func Col2im(dst, col []float32, c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW int) {
	g := newPatches("Col2im", c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW)
	g.check("Col2im", col, dst, "col", "dst")
	if !g.padded() {
		active.addPatches(col, dst, g)
		return
	}
	s := borrow(g.paddedSize())
	defer s.giveBack()
	g.pad(s.floats, dst)
	active.addPatches(col, s.floats, g)
	g.unpad(dst, s.floats)
}

// patches is the geometry of a convolution over one image. Its height and width include the padding, so no kernel has
// to test for it.
type patches struct {
	channels, height, width int // with padding
	kh, kw                  int
	strideH, strideW        int
	dilH, dilW              int
	padH, padW              int
	rows, cols              int // output positions
}

func newPatches(kernel string, c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW int) patches {
	return patches{
		channels: c, height: h + 2*padH, width: w + 2*padW,
		kh: kh, kw: kw, strideH: strideH, strideW: strideW, dilH: dilH, dilW: dilW, padH: padH, padW: padW,
		rows: positions(kernel, h, kh, padH, strideH, dilH),
		cols: positions(kernel, w, kw, padW, strideW, dilW),
	}
}

// positions returns the number of positions of a window along one axis.
func positions(kernel string, size, window, pad, stride, dilation int) int {
	reach := dilation*(window-1) + 1
	if size < 1 || window < 1 || pad < 0 || stride < 1 || dilation < 1 || reach > size+2*pad {
		panic(fmt.Sprintf("kernel: %s: window %d (padding %d, stride %d, dilation %d) doesn't fit size %d",
			kernel, window, pad, stride, dilation, size))
	}
	return (size+2*pad-reach)/stride + 1
}

func (g *patches) check(kernel string, col, img []float32, colName, imgName string) {
	checkLength(kernel, colName, len(col), g.rows*g.cols*g.channels*g.kh*g.kw)
	checkLength(kernel, imgName, len(img), g.channels*(g.height-2*g.padH)*(g.width-2*g.padW))
}

func (g *patches) padded() bool    { return g.padH > 0 || g.padW > 0 }
func (g *patches) paddedSize() int { return g.channels * g.height * g.width }

// pad copies an image into a larger one with zeros around it.
func (g *patches) pad(dst, img []float32) {
	clear(dst)
	g.eachRow(func(inside, outside int, n int) { copy(dst[outside:outside+n], img[inside:inside+n]) })
}

// unpad copies the inner part of a padded image back.
func (g *patches) unpad(img, padded []float32) {
	g.eachRow(func(inside, outside int, n int) { copy(img[inside:inside+n], padded[outside:outside+n]) })
}

// eachRow calls f with the offset of each row of the image, in the image and in the padded image, and its length.
func (g *patches) eachRow(f func(inside, outside, n int)) {
	h, w := g.height-2*g.padH, g.width-2*g.padW
	for c := range g.channels {
		for y := range h {
			f((c*h+y)*w, (c*g.height+g.padH+y)*g.width+g.padW, w)
		}
	}
}

func copyPatchesPlain(col, img []float32, g patches) {
	to := 0
	for oy := range g.rows {
		for ox := range g.cols {
			for c := range g.channels {
				for ky := range g.kh {
					from := (c*g.height+oy*g.strideH+ky*g.dilH)*g.width + ox*g.strideW
					for kx := range g.kw {
						col[to] = img[from+kx*g.dilW]
						to++
					}
				}
			}
		}
	}
}

func addPatchesPlain(col, img []float32, g patches) {
	from := 0
	for oy := range g.rows {
		for ox := range g.cols {
			for c := range g.channels {
				for ky := range g.kh {
					to := (c*g.height+oy*g.strideH+ky*g.dilH)*g.width + ox*g.strideW
					for kx := range g.kw {
						img[to+kx*g.dilW] += col[from]
						from++
					}
				}
			}
		}
	}
}
