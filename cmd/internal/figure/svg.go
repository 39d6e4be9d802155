package figure

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas is gonum's canvas with two changes. Texts keep the width of the layout in any font of a viewer. Styles are
// attributes, which a web page's policy allows and its style sheet may override.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length // of the texts so far
}

func newSVG(width, height vg.Length) canvas { return &svgCanvas{Canvas: vgsvg.New(width, height)} }

func (c *svgCanvas) FillString(face font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// changed matches the parts that [svgCanvas.WriteTo] changes. Texts are escaped, so they can't contain either.
var changed = regexp.MustCompile(`<text |style="[^"]*"`)

func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var out bytes.Buffer
	if _, err := c.Canvas.WriteTo(&out); err != nil {
		return 0, err
	}
	texts := 0
	svg := changed.ReplaceAllStringFunc(out.String(), func(found string) string {
		if found == "<text " {
			texts++
			return fmt.Sprintf(`<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, c.widths[texts-1].Points())
		}
		var attributes []string
		for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(found, `style="`), `"`), ";") {
			name, value, _ := strings.Cut(part, ":")
			if !strings.HasPrefix(name, "font-") || name == "font-size" {
				attributes = append(attributes, name+`="`+value+`"`)
			}
		}
		return strings.Join(attributes, " ")
	})
	svg = strings.Replace(svg, "<svg ", `<svg font-family="Liberation Sans, Arial, Helvetica, sans-serif" `, 1)
	n, err := io.WriteString(w, svg)
	return int64(n), err
}
