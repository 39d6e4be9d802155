package figure

import (
	"errors"
	"fmt"
	"image/color"
	"strings"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// letters sets labels of one line, in which *asterisks* mean italics and ^carets^ a superscript, as filled outlines.
//
// Gonum's text.Latex isn't up to it: it panics at a superscript, has serifs only, writes an SVG file whose look
// depends on the viewer's fonts, and writes μ as Îµ in a PDF file, whose fonts know no Greek (gonum.org/v1/plot
// v0.17.0).
type letters struct{ text.Plain }

var setLetters = letters{text.Plain{Fonts: font.NewCache(liberation.Collection())}}

func textStyle(size vg.Length) text.Style {
	s := text.Style{Color: color.Black, Font: plot.DefaultFont, Handler: setLetters}
	s.Font.Variant, s.Font.Size = "Sans", size
	return s
}

// Box returns the size of a label, as text.Plain does.
func (l letters) Box(label string, f font.Font) (width, height, depth vg.Length) {
	l.each(label, f, func(face font.Face, _ vg.Length, part string) { width += face.Width(part) })
	e := l.Extents(f)
	return width, e.Ascent, e.Descent
}

// Draw draws a label where text.Plain does.
func (l letters) Draw(c vg.Canvas, label string, sty text.Style, at vg.Point) {
	if page, ok := innermost(c).(*inlineCanvas); ok {
		page.text(l, label, sty, at)
		return
	}
	width, ascent, descent := l.Box(label, sty.Font)
	x, base := vg.Length(sty.XAlign)*width, vg.Length(sty.YAlign)*(ascent+descent)+sty.Font.Size-ascent
	var path vg.Path
	l.each(label, sty.Font, func(face font.Face, rise vg.Length, part string) {
		path = append(path, outline(face, vg.Point{X: x, Y: base + rise}, part)...)
		x += face.Width(part)
	})
	if len(path) == 0 {
		return // a path without a beginning isn't valid SVG
	}
	c.Push()
	defer c.Pop()
	c.Translate(at)
	c.Rotate(sty.Rotation)
	c.SetColor(sty.Color)
	c.Fill(path)
}

// innermost returns the canvas that draws, without the croppings around it.
func innermost(c vg.Canvas) vg.Canvas {
	for {
		switch cropped := c.(type) {
		case *draw.Canvas:
			c = cropped.Canvas
		case draw.Canvas:
			c = cropped.Canvas
		default:
			return c
		}
	}
}

// each calls draw with the parts of a label: their face, and how far they are raised.
func (l letters) each(label string, f font.Font, draw func(face font.Face, rise vg.Length, part string)) {
	for i, level := range strings.Split(label, "^") {
		for j, part := range strings.Split(level, "*") {
			font, rise := f, vg.Length(0)
			if i%2 == 1 {
				font.Size, rise = 0.7*f.Size, 0.35*f.Size
			}
			if j%2 == 1 {
				font.Style = stdfont.StyleItalic
			}
			draw(l.Fonts.Lookup(font, font.Size), rise, part)
		}
	}
}

// outline returns the outlines of a text whose baseline begins at a point. The fonts are embedded: one that can't be
// read is a broken build, at which gonum panics as well.
func outline(face font.Face, at vg.Point, text string) vg.Path {
	var (
		path     vg.Path
		buffer   sfnt.Buffer
		previous sfnt.GlyphIndex
		em       = fixed.Int26_6(face.Face.UnitsPerEm()) // makes all lengths integers, in font units
		scale    = face.Font.Size / vg.Length(em)
	)
	for i, letter := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, letter)
		check(err)
		if i > 0 {
			kern, err := face.Face.Kern(&buffer, previous, glyph, em, stdfont.HintingNone)
			if !errors.Is(err, sfnt.ErrNotFound) {
				check(err)
				at.X += vg.Length(kern) * scale
			}
		}
		segments, err := face.Face.LoadGlyph(&buffer, glyph, em, nil)
		check(err)
		path = append(path, contours(segments, func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: at.X + vg.Length(p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
		})...)
		advance, err := face.Face.GlyphAdvance(&buffer, glyph, em, stdfont.HintingNone)
		check(err)
		at.X += vg.Length(advance) * scale
		previous = glyph
	}
	return path
}

func check(err error) {
	if err != nil {
		panic(fmt.Errorf("read embedded font: %w", err))
	}
}

// contours returns the path of a glyph. Quadratic curves, which TrueType fonts have, become cubic ones, because gonum's
// PDF writer mistakes the former for others.
func contours(segments sfnt.Segments, place func(fixed.Point26_6) vg.Point) vg.Path {
	var path vg.Path
	var at vg.Point
	for _, s := range segments {
		a := place(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(path) > 0 { // an SVG path must not begin with an end
				path.Close()
			}
			path.Move(a)
		case sfnt.SegmentOpLineTo:
			path.Line(a)
		case sfnt.SegmentOpQuadTo:
			b := place(s.Args[1])
			path.CubeTo(at.Add(a.Sub(at).Scale(2./3)), b.Add(a.Sub(b).Scale(2./3)), b)
			a = b
		}
		at = a
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}
