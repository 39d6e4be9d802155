package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// inlineMargin around a picture, in points: a page's fonts may be taller than ours.
const inlineMargin = 1.

// Inline returns a figure's key and its panels as SVG elements, which a narrow page can put one below the other. Text
// isn't outlines, and colours are attributes, which the page's style sheet overrides in dark mode. The elements have no
// style attributes, so that a content security policy may forbid them.
func Inline(f Figure) (key template.HTML, panels []template.HTML) {
	d := f.drawing()
	width, height := cmp.Or(d.width, panelWidth), cmp.Or(d.height, panelHeight)
	entries, keyHeight := layKey(d.key, panelWidth)
	var names []string
	for _, row := range d.key {
		for _, entry := range row {
			names = append(names, entry.text)
		}
	}
	// Screen readers read a picture's label in place of its texts.
	key = inline(panelWidth, keyHeight, "key: "+strings.Join(names, "; "), func(all draw.Canvas) {
		for _, l := range entries {
			l.Draw(all)
		}
	})
	for _, p := range d.panels {
		said := []string{p.title, p.y.label + " over " + p.x.label}
		if strings.TrimSpace(p.note) != "" {
			said = append(said, p.note)
		}
		if len(p.curves) == 0 {
			said = append(said, p.empty)
		}
		panels = append(panels, inline(width, height, strings.Join(said, "; "), func(all draw.Canvas) {
			plot := newPlot(p)
			plot.Draw(all)
			drawNote(all, plot.DataCanvas(all), p.note)
		}))
	}
	return key, panels
}

func inline(width, height vg.Length, label string, paint func(draw.Canvas)) template.HTML {
	sheet := newSVG(width, height)
	paint(draw.New(sheet))
	var out bytes.Buffer
	_, _ = sheet.WriteTo(&out)                     // a buffer takes all
	_, body, _ := strings.Cut(out.String(), "<g ") // without gonum's header
	return template.HTML(fmt.Sprintf("<svg viewBox=\"%g %g %g %g\" role=\"img\" aria-label=\"%s\">\n<g %s",
		-inlineMargin, -inlineMargin, width+2*inlineMargin, height+2*inlineMargin, template.HTMLEscapeString(label), body))
}
