package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Window is the geometry of a convolution or pooling over an image of channels × height × width. At output position (y,
// x), row k of the window meets row y·StrideH − PadH + k·DilationH of the image, and columns likewise. im2col has a row
// for each output position and is [OutH·OutW, C·KH·KW], with elements in the order (c, kh, kw).
type Window struct {
	C, H, W, KH, KW      int
	PadH, PadW           int // on both sides; a convolution reads 0 there, and pooling never takes its maximum there
	StrideH, StrideW     int
	DilationH, DilationW int
	OutC, OutH, OutW     int
}

// Patch returns the number of values that a window covers: the row length of im2col.
func (w *Window) Patch() int { return size(w.C, w.KH, w.KW) }

// Positions returns the number of output positions: the rows of im2col.
func (w *Window) Positions() int { return size(w.OutH, w.OutW) }

// inSize, outSize and filterSize return the number of elements of an image, of its output and of the filters, or 0 if
// the window's numbers are impossible.
func (w *Window) inSize() int     { return size(w.C, w.H, w.W) }
func (w *Window) outSize() int    { return size(w.OutC, w.OutH, w.OutW) }
func (w *Window) filterSize() int { return size(w.OutC, w.C, w.KH, w.KW) }

// convolution recognises the nodes that gorgonia.Conv2d builds,
//
//	transpose_0312(reshape(reshape(im2col(x)) × reshape(filter)ᵀ))
//
// and lowers them to one instruction, which writes the result channels first without transposing it. It returns false
// for other transpositions.
func (t *tracer) convolution(n *gorgonia.Node) (traced, bool, error) {
	p := graph.FieldsOf(n.Op()).Ints("pattern")
	if !slices.Equal(p, []int{0, 3, 1, 2}) {
		return traced{}, false, nil
	}
	chain := func(n *gorgonia.Node, kind string) []*gorgonia.Node {
		if n == nil || n.Op() == nil || graph.Kind(n.Op()) != kind {
			return nil
		}
		return graph.Children(n)
	}
	first := func(c []*gorgonia.Node) *gorgonia.Node {
		if len(c) == 0 {
			return nil
		}
		return c[0]
	}
	product := first(chain(graph.Children(n)[0], "reshapeOp"))
	operands := chain(product, "linAlgBinOp")
	if len(operands) != 2 || graph.Operator(product.Op()) != graph.MatMul {
		return traced{}, false, nil
	}
	if turned := graph.FieldsOf(product.Op()); turned.Bool("transA") || !turned.Bool("transB") {
		return traced{}, false, nil
	}
	columns := first(chain(operands[0], "reshapeOp"))
	image := first(chain(columns, "im2colOp"))
	if image == nil {
		return traced{}, false, nil
	}
	x, err := t.trace(image)
	if err != nil {
		return traced{}, false, err
	}
	w, err := t.trace(operands[1])
	if err != nil {
		return traced{}, false, err
	}
	if t.integers(x) {
		return traced{}, false, readsIntegers(n)
	}
	if x.class != batched || x.folded || len(x.shape) != 3 || w.class != shared || w.overBatch || len(w.shape) != 2 {
		return traced{}, false, nil // its parts have rules of their own
	}
	f := graph.FieldsOf(columns.Op())
	win := &Window{
		C: x.shape[0], H: x.shape[1], W: x.shape[2], KH: f.Int("h"), KW: f.Int("w"),
		PadH: f.Int("padH"), PadW: f.Int("padW"),
		StrideH: f.Int("strideH"), StrideW: f.Int("strideW"),
		DilationH: f.Int("dilationH"), DilationW: f.Int("dilationW"),
	}
	shape := graph.Shape(n)
	win.OutC, win.OutH, win.OutW = shape[1], shape[2], shape[3]
	if w.shape[0] != win.OutC || w.shape[1] != win.Patch() {
		return traced{}, false, nil
	}
	out := traced{class: batched, shape: shape[1:]}
	out.id = t.emit(n, out.shape, Instruction{Op: Conv, In: []ID{x.id, t.whole(n, w)}, Window: win})
	return out, true, nil
}

// unroll lowers an Im2Col outside [convolution]'s pattern, as Conv2d makes it for unusual filters or images: positions
// and elements of a window are strides of the image, or of a copy with zeros around it.
func unroll(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, out, count, err := t.images(n, in[0])
	if err != nil {
		return traced{}, err
	}
	f := graph.FieldsOf(n.Op())
	id, c, h, w := v.id, v.shape[0], v.shape[1], v.shape[2]
	if padH, padW := f.Int("padH"), f.Int("padW"); padH > 0 || padW > 0 {
		padded := []int{count * c, h + 2*padH, w + 2*padW}
		into := ViewOf(padded)
		into.Shape, into.Offset = []int{count * c, h, w}, padH*padded[2]+padW
		id = t.emit(n, padded, Instruction{Op: Scatter, In: []ID{id}, View: into})
		h, w = padded[1], padded[2]
	}
	shape := graph.Shape(n) // images, rows and columns of positions, elements
	kh, kw, dh, dw := f.Int("h"), f.Int("w"), f.Int("dilationH"), f.Int("dilationW")
	view := View{
		Shape:   []int{count, shape[1], shape[2], c, kh, kw},
		Strides: []int{c * h * w, f.Int("strideH") * w, f.Int("strideW"), h * w, dh * w, dw},
	}
	out.id = t.emit(n, out.shape, Instruction{Op: Gather, In: []ID{id}, View: view})
	return out, nil
}

// images returns the operand of n as images, one of v.shape for each sample, or count of them if it is folded, and the
// result of n without a value. It copies a shared operand for each sample.
func (t *tracer) images(n *gorgonia.Node, v traced) (images, out traced, count int, err error) {
	if v, err = t.batchedCopy(n, v, graph.Shape(graph.Children(n)[0])); err != nil {
		return v, out, 0, err
	}
	count = 1
	if v.folded {
		count, v.shape = v.shape[0], v.shape[1:]
	}
	if len(v.shape) != 3 {
		return v, out, 0, refuse(n, "its operand isn't an image of each sample", "samples of channels, rows and columns")
	}
	out, err = t.perSample(n, graph.Shape(n))
	return v, out, count, err
}

// maxPool lowers max-pooling. The positions of the maxima are a separate value, which the backward pass reads.
func maxPool(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, out, win, err := t.pool(n, in)
	if err != nil {
		return traced{}, err
	}
	where := t.value(Value{Name: "places of maxima", Kind: Buffer, Type: Int32, Shape: out.shape})
	out.id = t.emit(n, out.shape, Instruction{Op: MaxPool, In: []ID{v.id}, Where: where, Window: win})
	return out, nil
}

// pool returns the operand, the result and the window of a max-pooling operation. The channels of several images are
// the channels of one.
func (t *tracer) pool(n *gorgonia.Node, in []traced) (v, out traced, win *Window, err error) {
	v, out, count, err := t.images(n, in[0])
	if err != nil {
		return v, out, nil, err
	}
	f := graph.FieldsOf(n.Op())
	win = &Window{
		C: count * v.shape[0], H: v.shape[1], W: v.shape[2], KH: f.Int("h"), KW: f.Int("w"),
		PadH: f.Int("padNorth"), PadW: f.Int("padWest"),
		StrideH: f.Int("strideH"), StrideW: f.Int("strideW"), DilationH: 1, DilationW: 1,
	}
	if win.PadH != f.Int("padSouth") || win.PadW != f.Int("padEast") {
		return v, out, nil, refuse(n, "its padding differs between sides, which Gorgonia takes for one another", "the same padding on both sides")
	}
	shape := graph.Shape(n)
	win.OutC, win.OutH, win.OutW = count*shape[1], shape[2], shape[3]
	return v, out, win, nil
}
