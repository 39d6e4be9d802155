package walk

import (
	"maps"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// image is a value that convolutions read, and its padded size: padding below and to the right may differ from padding
// above and to the left.
type image struct {
	of                    compile.ID
	planes, height, width int // of the value
	top, left             int // padding
	padded                [2]int
}

// padded adds an instruction that copies each image that convolutions read beyond its borders, with zeros around it.
// Then the kernels of a convolution and of its gradients compare nothing for each pixel. The copy is a gather, which
// reads -1 as 0.
func (l *Program) padded(code []compile.Instruction) []compile.Instruction {
	copies := map[image]compile.ID{}
	var out []compile.Instruction
	for _, in := range code {
		maps.DeleteFunc(copies, func(x image, _ compile.ID) bool { return slices.Contains(in.Writes(), x.of) })
		var operand int
		var x image
		switch w := in.Window; in.Op {
		case compile.Conv:
			x = around(in.In[0], w)
		case compile.GradConv:
			operand, x = 1, around(in.In[1], w)
		case compile.ConvBack:
			x = aroundResult(in.In[0], w)
		default:
			out = append(out, in)
			continue
		}
		if in.Op != compile.ConvBack && x.height == x.padded[0] && x.width == x.padded[1] {
			out = append(out, in)
			continue
		}
		id, done := copies[x]
		if !done {
			id = l.buffer("padded "+l.values[x.of].Name, x.planes, x.padded[0], x.padded[1])
			l.padding[id] = x
			copies[x] = id
			out = append(out, compile.Instruction{Op: compile.Gather, In: []compile.ID{x.of}, Out: id, Where: compile.None})
		}
		in.In = slices.Clone(in.In)
		in.In[operand] = id
		if in.Op != compile.ConvBack {
			w := *in.Window
			w.H, w.W, w.PadH, w.PadW = x.padded[0], x.padded[1], 0, 0
			in.Window = &w
		}
		out = append(out, in)
	}
	return out
}

// around returns the padded image that a convolution reads.
func around(id compile.ID, w *compile.Window) image {
	return image{of: id, planes: w.C, height: w.H, width: w.W, top: w.PadH, left: w.PadW, padded: [2]int{
		max(w.H+w.PadH, (w.OutH-1)*w.StrideH+(w.KH-1)*w.DilationH+1),
		max(w.W+w.PadW, (w.OutW-1)*w.StrideW+(w.KW-1)*w.DilationW+1),
	}}
}

// aroundResult returns the padded gradient of the result that a convolution's backward pass reads: pixel y meets
// element e of the window at position (y + pad - e·dilation) / stride.
func aroundResult(id compile.ID, w *compile.Window) image {
	down, across := taken(w.StrideH, w.OutH), taken(w.StrideW, w.OutW)
	top := max(0, (w.KH-1)*taken(w.DilationH, w.KH)-w.PadH) / down
	left := max(0, (w.KW-1)*taken(w.DilationW, w.KW)-w.PadW) / across
	return image{of: id, planes: w.OutC, height: w.OutH, width: w.OutW, top: top, left: left, padded: [2]int{
		top + max(w.OutH, (w.H-1+w.PadH)/down+1),
		left + max(w.OutW, (w.W-1+w.PadW)/across+1),
	}}
}

// elements returns the index in the image of each element of its padded copy, -1 for padding.
func (x image) elements() []int32 {
	out := make([]int32, 0, x.planes*x.padded[0]*x.padded[1])
	for c := range x.planes {
		for y := range x.padded[0] {
			for z := range x.padded[1] {
				i, j := y-x.top, z-x.left
				at := int32(-1)
				if i >= 0 && i < x.height && j >= 0 && j < x.width {
					at = int32((c*x.height+i)*x.width + j)
				}
				out = append(out, at)
			}
		}
	}
	return out
}
