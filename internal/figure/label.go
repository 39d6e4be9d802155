package figure

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// endLabels are the labels of curves, each beside the end of its curve, from the lowest to the highest.
type endLabels []curve

func newEndLabels(curves []curve) endLabels {
	labels := slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return c.label == "" })
	slices.SortStableFunc(labels, func(a, b curve) int {
		if a.lastY() < b.lastY() {
			return -1
		}
		return 1
	})
	return labels
}

func (c curve) lastX() float64 { return c.x[len(c.x)-1] }
func (c curve) lastY() float64 { return c.y[len(c.y)-1] }

const (
	labelGap  = 6.  // between curve and label
	labelLine = 9.5 // the least distance between labels
)

// Plot draws the labels, moving up those that would overlap.
func (l endLabels) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	heights := make([]vg.Length, len(l))
	for i, c := range l {
		heights[i] = toY(c.lastY())
	}
	for i, y := range spread(heights) {
		fillBeside(canvas, vg.Point{X: toX(l[i].lastX()) + labelGap, Y: y}, tickSize, l[i].label)
	}
}

// spread moves heights, which ascend, up until there is a line between any two.
func spread(heights []vg.Length) []vg.Length {
	for i := 1; i < len(heights); i++ {
		heights[i] = max(heights[i], heights[i-1]+labelLine)
	}
	return heights
}

// GlyphBoxes makes room for the labels.
func (l endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, c := range l {
		boxes = append(boxes, plot.GlyphBox{
			X:         p.X.Norm(c.lastX()),
			Y:         p.Y.Norm(c.lastY()),
			Rectangle: vg.Rectangle{Max: vg.Point{X: labelGap + textStyle(tickSize).Width(c.label), Y: 1}},
		})
	}
	return boxes
}

// fillBeside writes a label to the right of a point, so that the middle of its capitals is level with it.
func fillBeside(c draw.Canvas, at vg.Point, size vg.Length, label string) {
	const capitals = 0.69 // their height, of the font's size
	style := textStyle(size)
	style.YAlign = text.YBottom // puts the baseline at this distance above the point, less what is taken off:
	at.Y -= size - style.FontExtents().Ascent + capitals*size/2
	c.FillText(style, at, label)
}
