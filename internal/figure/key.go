package figure

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the key, in points.
const (
	keySample = 26.
	keyGap    = 5.  // between sample and text
	keySpace  = 16. // between entries
	keyLine   = 13.
)

// A placedEntry is an entry of the key and where its sample begins, from the top left of the key.
type placedEntry struct {
	keyEntry
	x, y vg.Length
}

// layKey breaks the key's rows so that they fit into the width.
func layKey(rows []keyRow, width vg.Length) (entries []placedEntry, height vg.Length) {
	style := textStyle(textSize)
	for _, row := range rows {
		x := vg.Length(0)
		for _, e := range row {
			w := keySample + keyGap + style.Width(e.text)
			if x > 0 && x+w > width {
				x = 0
				height += keyLine
			}
			entries = append(entries, placedEntry{e, x, height + keyLine/2})
			x += w + keySpace
		}
		height += keyLine
	}
	return entries, height
}

func drawKey(c draw.Canvas, entries []placedEntry) {
	for _, e := range entries {
		x, y := c.Min.X+e.x, c.Max.Y-e.y
		c.StrokeLine2(e.stroke.style(e.marker.colour), x, y, x+keySample, y)
		e.marker.draw(c, vg.Point{X: x + keySample/2, Y: y})
		fillBeside(c, vg.Point{X: x + keySample + keyGap, Y: y}, textSize, e.text)
	}
}
