package walk

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/compile"
)

// anyWindow draws a window, often one whose strides or dilations are never taken.
func anyWindow(t *rapid.T) *compile.Window {
	n := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
	w := &compile.Window{C: n("c", 2), OutC: n("out c", 2), KH: n("kh", 4), KW: n("kw", 4), StrideH: n("stride h", 4), StrideW: n("stride w", 4),
		DilationH: n("dilation h", 3), DilationW: n("dilation w", 3), PadH: n("pad h", 4) - 1, PadW: n("pad w", 4) - 1}
	w.H = max(1, n("h", 9)+(w.KH-1)*w.DilationH-2*w.PadH)
	w.W = max(1, n("w", 9)+(w.KW-1)*w.DilationW-2*w.PadW)
	w.OutH = max(0, w.H+2*w.PadH-(w.KH-1)*w.DilationH-1)/w.StrideH + 1
	w.OutW = max(0, w.W+2*w.PadW-(w.KW-1)*w.DilationW-1)/w.StrideW + 1
	return w
}

// A padded image has the pixels that a window reads at each of its positions, and zeros beyond the image's borders.
func TestPaddedImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWindow(t)
		x := around(0, w)
		elements := x.elements()
		for c := range w.C {
			for y := range w.OutH {
				for z := range w.OutW {
					for i := range w.KH {
						for j := range w.KW {
							row, column := y*w.StrideH+i*w.DilationH, z*w.StrideW+j*w.DilationW // of the padded image
							if row >= x.padded[0] || column >= x.padded[1] {
								t.Fatalf("%+v reads (%d, %d) of %v", w, row, column, x.padded)
							}
							want := int32(-1)
							if a, b := row-w.PadH, column-w.PadW; a >= 0 && a < w.H && b >= 0 && b < w.W {
								want = int32((c*w.H+a)*w.W + b)
							}
							if got := elements[(c*x.padded[0]+row)*x.padded[1]+column]; got != want {
								t.Fatalf("%+v: (%d, %d, %d) of the padded image is element %d, want %d", w, c, row, column, got, want)
							}
						}
					}
				}
			}
		}
	})
}

// A padded gradient has the values that a pixel gathers from each window element that meets it at a whole position.
func TestPaddedGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWindow(t)
		x := aroundResult(0, w)
		elements := x.elements()
		stride, dilation := taken(w.StrideH, w.OutH), taken(w.DilationH, w.KH)
		strideW, dilationW := taken(w.StrideW, w.OutW), taken(w.DilationW, w.KW)
		for y := range w.H {
			for z := range w.W {
				for i := range w.KH {
					for j := range w.KW {
						row, column := y+w.PadH-i*dilation, z+w.PadW-j*dilationW // times the stride
						if row%stride != 0 || column%strideW != 0 {
							continue
						}
						row, column = row/stride, column/strideW
						want := int32(-1)
						if row >= 0 && row < w.OutH && column >= 0 && column < w.OutW {
							want = int32(row*w.OutW + column)
						}
						a, b := row+x.top, column+x.left
						if a < 0 || a >= x.padded[0] || b < 0 || b >= x.padded[1] {
							t.Fatalf("%+v: pixel (%d, %d) meets (%d, %d) of %v", w, y, z, a, b, x.padded)
						}
						if got := elements[a*x.padded[1]+b]; got != want {
							t.Fatalf("%+v: (%d, %d) of the padded gradient is element %d, want %d", w, a, b, got, want)
						}
					}
				}
			}
		}
	})
}

// A padded copy is used until its image is written.
func TestCopiesAreForgotten(t *testing.T) {
	w := &compile.Window{C: 1, H: 3, W: 3, KH: 2, KW: 2, PadH: 1, PadW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutC: 1, OutH: 4, OutW: 4}
	conv := compile.Instruction{Op: compile.Conv, In: []compile.ID{0, 1}, Out: 2, Where: compile.None, Window: w}
	fill := func(id compile.ID) compile.Instruction {
		return compile.Instruction{Op: compile.Fill, Out: id, Where: compile.None}
	}
	for _, c := range []struct {
		code []compile.Instruction
		want int
	}{
		{[]compile.Instruction{conv, conv}, 1},
		{[]compile.Instruction{conv, fill(2), conv}, 1},
		{[]compile.Instruction{conv, fill(0), conv}, 2},
	} {
		l := &Program{padding: map[compile.ID]image{}, values: []compile.Value{{Name: "x"}, {Name: "w"}, {Name: "z"}}}
		copies := 0
		for _, in := range l.padded(c.code) {
			if in.Op == compile.Gather {
				copies++
			}
		}
		if copies != c.want {
			t.Errorf("%d copies for %d instructions, want %d", copies, len(c.code), c.want)
		}
	}
}
