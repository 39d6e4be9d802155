package figure

import (
	"errors"
	"fmt"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outline returns the outlines of a text whose baseline begins at start, each point moved by place. The
// fonts are part of the program: one that can't be read is a broken build, for which gonum panics too.
func outline(face font.Face, text string, start vg.Point, place func(vg.Point) vg.Point) vg.Path {
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
				start.X += vg.Length(kern) * scale
			}
		}
		segments, err := face.Face.LoadGlyph(&buffer, glyph, em, nil)
		check(err)
		path = append(path, contours(segments, func(p fixed.Point26_6) vg.Point {
			return place(vg.Point{X: start.X + vg.Length(p.X)*scale, Y: start.Y - vg.Length(p.Y)*scale})
		})...)
		advance, err := face.Face.GlyphAdvance(&buffer, glyph, em, stdfont.HintingNone)
		check(err)
		start.X += vg.Length(advance) * scale
		previous = glyph
	}
	return path
}

func check(err error) {
	if err != nil {
		panic(fmt.Errorf("read embedded font: %w", err))
	}
}

// contours turns a glyph into a path. Quadratic curves become cubic ones: gonum's PDF writer takes the
// former for something else.
func contours(segments sfnt.Segments, place func(fixed.Point26_6) vg.Point) vg.Path {
	var path vg.Path
	var at vg.Point
	for _, s := range segments {
		switch a := place(s.Args[0]); s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(path) > 0 {
				path.Close()
			}
			path.Move(a)
			at = a
		case sfnt.SegmentOpLineTo:
			path.Line(a)
			at = a
		case sfnt.SegmentOpQuadTo:
			b := place(s.Args[1])
			path.CubeTo(at.Add(a.Sub(at).Scale(2./3)), b.Add(a.Sub(b).Scale(2./3)), b)
			at = b
		case sfnt.SegmentOpCubeTo:
			at = place(s.Args[2])
			path.CubeTo(a, place(s.Args[1]), at)
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}
