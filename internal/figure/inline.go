package figure

import (
	"cmp"
	"strings"

	"gonum.org/v1/plot/vg/draw"
)

// Picture is an SVG element for a web page.
type Picture struct{ SVG string }

// inlineMargin around a picture, in points: the fonts of a page may be taller than ours.
const inlineMargin = 4

// Inline returns a figure's key and its panels as SVG elements, which a page can put one below the other where it is
// narrow. Text is text. Colours are classes, whose color the page's style sheet sets: p-ink, p-grid, p-ground, p-note
// and p-c0 to p-c3. The elements have no style attributes, so that a content security policy may forbid them.
func Inline(f Figure) (key Picture, panels []Picture) {
	d := f.drawing()
	if d.table != nil {
		return Picture{}, nil // a page has tables of its own
	}
	width, height := cmp.Or(d.width, panelWidth), cmp.Or(d.height, panelHeight)
	entries, keyHeight := layKey(d.key, panelWidth)
	sheet := newInline(panelWidth, keyHeight)
	for _, l := range entries {
		l.Draw(draw.New(sheet))
	}
	var names []string
	for _, row := range d.key {
		for _, entry := range row {
			names = append(names, Unmarked(entry.text))
		}
	}
	key = sheet.picture("key: " + strings.Join(names, "; ")) // readers of a picture's label don't get to its texts
	for _, p := range d.panels {
		sheet := newInline(width, height)
		plot, all := newPlot(p), draw.New(sheet)
		plot.Draw(all)
		drawNote(all, plot.DataCanvas(all), p.note)
		said := []string{p.title, p.y.label + " over " + p.x.label}
		if strings.TrimSpace(p.note) != "" {
			said = append(said, p.note)
		}
		if len(p.curves) == 0 {
			said = append(said, p.empty)
		}
		panels = append(panels, sheet.picture(strings.NewReplacer("*", "", "^", "").Replace(strings.Join(said, "; "))))
	}
	return key, panels
}
