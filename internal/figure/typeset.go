package figure

import (
	"math"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// typeset sets labels of one line in which *asterisks* mean italics and ^carets^ a superscript. It fills
// the outlines of the letters instead of writing text: gonum's PDF writer knows no Greek, and an SVG file
// would depend on the viewer's fonts.
type typeset struct{ text.Plain }

func newTypeset() typeset {
	return typeset{text.Plain{Fonts: font.NewCache(liberation.Collection())}}
}

func (t typeset) Lines(label string) []string { return []string{label} }

func (t typeset) Box(label string, f font.Font) (width, height, depth vg.Length) {
	e := t.Extents(f)
	for _, r := range runs(label) {
		face := t.face(r, f)
		width += face.Width(r.text)
	}
	return width, e.Ascent, e.Descent
}

// Draw puts the label where text.Plain would.
func (t typeset) Draw(c vg.Canvas, label string, sty text.Style, pt vg.Point) {
	width, ascent, descent := t.Box(label, sty.Font)
	x := vg.Length(sty.XAlign) * width
	base := vg.Length(sty.YAlign)*(ascent+descent) + sty.Font.Size - ascent
	sin, cos := math.Sincos(sty.Rotation)
	turned := func(p vg.Point) vg.Point {
		return pt.Add(vg.Point{X: p.X*vg.Length(cos) - p.Y*vg.Length(sin), Y: p.X*vg.Length(sin) + p.Y*vg.Length(cos)})
	}
	var path vg.Path
	for _, r := range runs(label) {
		face := t.face(r, sty.Font)
		y := base
		if r.raised {
			y += sty.Font.Size * 0.35
		}
		path = append(path, outline(face, r.text, vg.Point{X: x, Y: y}, turned)...)
		x += face.Width(r.text)
	}
	c.SetColor(sty.Color)
	c.Fill(path)
}

func (t typeset) face(r run, f font.Font) font.Face {
	if r.italic {
		f.Style = stdfont.StyleItalic
	}
	if r.raised {
		f.Size *= 0.7
	}
	return t.Fonts.Lookup(f, f.Size)
}

// A run is a piece of a label in one style.
type run struct {
	text           string
	italic, raised bool
}

func runs(label string) []run {
	var all []run
	for i, part := range strings.Split(label, "^") {
		for j, text := range strings.Split(part, "*") {
			if text != "" {
				all = append(all, run{text, j%2 == 1, i%2 == 1})
			}
		}
	}
	return all
}
