package figure

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// inlineCanvas writes SVG whose texts are texts and whose colours are classes.
type inlineCanvas struct {
	width, height vg.Length
	out           bytes.Buffer
	states        []inlineState
}

type inlineState struct {
	color     color.Color
	line      vg.Length
	dashes    string
	transform []string
}

var _ canvas = (*inlineCanvas)(nil)

func newInline(width, height vg.Length) *inlineCanvas {
	return &inlineCanvas{width: width, height: height, states: []inlineState{{color: color.Black, line: 1}}}
}

func (c *inlineCanvas) picture(label string) Picture {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<svg viewBox=\"%d %d %s %s\" role=\"img\" aria-label=\"%s\">\n%s</svg>\n",
		-inlineMargin, -inlineMargin, short(c.width+2*inlineMargin), short(c.height+2*inlineMargin), html.EscapeString(label), c.out.Bytes())
	return Picture{SVG: out.String()}
}

func (c *inlineCanvas) state() *inlineState          { return &c.states[len(c.states)-1] }
func (c *inlineCanvas) SetLineWidth(w vg.Length)     { c.state().line = w }
func (c *inlineCanvas) SetColor(to color.Color)      { c.state().color = to }
func (c *inlineCanvas) Size() (vg.Length, vg.Length) { return c.width, c.height }

func (c *inlineCanvas) SetLineDash(pattern []vg.Length, _ vg.Length) {
	var lengths []string
	for _, l := range pattern {
		lengths = append(lengths, short(l))
	}
	c.state().dashes = strings.Join(lengths, " ")
}

// Angles turn against the clock, from a y axis that points up.
func (c *inlineCanvas) Rotate(radians float64) {
	c.transform("rotate(%s)", short(vg.Length(-radians*180/3.141592653589793)))
}

func (c *inlineCanvas) Translate(by vg.Point) {
	c.transform("translate(%s %s)", short(by.X), short(-by.Y))
}

func (c *inlineCanvas) Scale(x, y float64) {
	c.transform("scale(%s %s)", short(vg.Length(x)), short(vg.Length(y)))
}

func (c *inlineCanvas) transform(format string, args ...any) {
	s := c.state()
	s.transform = append(s.transform[:len(s.transform):len(s.transform)], fmt.Sprintf(format, args...))
}

func (c *inlineCanvas) Push() { c.states = append(c.states, *c.state()) }
func (c *inlineCanvas) Pop()  { c.states = c.states[:len(c.states)-1] }

func (c *inlineCanvas) Stroke(p vg.Path) {
	s := c.state()
	if s.line <= 0 {
		return
	}
	dashes := ""
	if s.dashes != "" {
		dashes = ` stroke-dasharray="` + s.dashes + `"`
	}
	c.path(p, fmt.Sprintf(` fill="none" stroke="currentColor" stroke-width="%s"%s`, short(s.line), dashes))
}

func (c *inlineCanvas) Fill(p vg.Path) { c.path(p, ` fill="currentColor"`) }

func (c *inlineCanvas) path(p vg.Path, look string) {
	var d strings.Builder
	for _, part := range p {
		switch part.Type {
		case vg.MoveComp:
			fmt.Fprintf(&d, "M%s %s", short(part.Pos.X), short(c.height-part.Pos.Y))
		case vg.LineComp:
			fmt.Fprintf(&d, "L%s %s", short(part.Pos.X), short(c.height-part.Pos.Y))
		case vg.CloseComp:
			d.WriteString("Z")
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.out, "<path class=\"%s\"%s d=\"%s\"%s/>\n", c.class(), look, d.String(), c.placed())
	}
}

// placed returns the attribute of all transforms.
func (c *inlineCanvas) placed() string {
	if len(c.state().transform) == 0 {
		return ""
	}
	return ` transform="` + strings.Join(c.state().transform, " ") + `"`
}

// text writes a label in the markup of letters, as letters.Draw does.
func (c *inlineCanvas) text(l letters, label string, sty text.Style, at vg.Point) {
	width, ascent, descent := l.Box(label, sty.Font)
	anchor := "start"
	switch sty.XAlign {
	case text.XCenter:
		anchor = "middle"
	case text.XRight:
		anchor = "end"
	}
	base := vg.Length(sty.YAlign)*(ascent+descent) + sty.Font.Size - ascent
	c.Push()
	defer c.Pop()
	c.SetColor(sty.Color)
	c.transform("translate(%s %s)", short(at.X), short(c.height-at.Y))
	if sty.Rotation != 0 {
		c.Rotate(sty.Rotation)
	}
	var spans strings.Builder
	raised := vg.Length(0)
	l.each(label, sty.Font, func(face font.Face, rise vg.Length, part string) {
		if part == "" {
			return
		}
		look := ""
		if face.Font.Style != sty.Font.Style {
			look += ` font-style="italic"`
		}
		if face.Font.Size != sty.Font.Size {
			look += ` font-size="` + short(face.Font.Size) + `"`
		}
		if rise != raised {
			look += ` dy="` + short(raised-rise) + `"`
			raised = rise
		}
		fmt.Fprintf(&spans, "<tspan%s>%s</tspan>", look, html.EscapeString(part))
	})
	if spans.Len() == 0 {
		return
	}
	// The length keeps texts inside the picture if the page's font is wider than ours.
	fmt.Fprintf(&c.out, "<text class=\"%s\" fill=\"currentColor\" font-size=\"%s\" text-anchor=\"%s\" textLength=\"%s\" lengthAdjust=\"spacingAndGlyphs\" y=\"%s\"%s>%s</text>\n",
		c.class(), short(sty.Font.Size), anchor, short(width), short(-base), c.placed(), spans.String())
}

// class names the colour. Greys that no marker has are those of grids and notes.
func (c *inlineCanvas) class() string {
	rgba := func(c color.Color) [4]uint32 {
		r, g, b, a := c.RGBA()
		return [4]uint32{r, g, b, a}
	}
	at := c.state().color
	if at == nil {
		return "p-ink"
	}
	for i, m := range markers {
		if rgba(m.Color) == rgba(at) && rgba(at) != rgba(color.Black) {
			return "p-c" + strconv.Itoa(i)
		}
	}
	switch rgba(at) {
	case rgba(color.White):
		return "p-ground"
	case rgba(gridColor):
		return "p-grid"
	case rgba(noteColor):
		return "p-note"
	}
	return "p-ink"
}

func (c *inlineCanvas) FillString(f font.Face, at vg.Point, label string) {
	sty := textStyle(f.Font.Size)
	sty.Color = c.state().color
	c.text(setLetters, label, sty, at)
}

// DrawImage draws nothing: no figure has an image.
func (c *inlineCanvas) DrawImage(vg.Rectangle, image.Image) {}

func (c *inlineCanvas) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, c.picture("").SVG)
	return int64(n), err
}

// short prints a length in hundredths of a point.
func short(l vg.Length) string {
	out := strconv.FormatFloat(float64(l), 'f', 2, 64)
	out = strings.TrimSuffix(strings.TrimRight(out, "0"), ".")
	if out == "-0" || out == "" {
		return "0"
	}
	return out
}
