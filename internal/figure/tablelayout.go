package figure

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type textTable struct{ TextTable }

// Sizes of tables, in points.
const (
	tableWidth  = 518. // at most, without margins
	tableGap    = 10.  // between columns
	tableLine   = 11.5
	tableBefore = 3.5 // above and below the lines of a row
	cellSize    = 8.5
)

// draw lays the table out and draws it: a title, three rules, rows of wrapped cells, notes.
func (t *textTable) draw(newCanvas func(width, height vg.Length) canvas) canvas {
	cell, title := textStyle(cellSize), textStyle(textSize+1)
	widths := t.widths(cell)
	full := vg.Length(len(widths)-1) * tableGap
	for _, w := range widths {
		full += w
	}
	var rows [][][]string // lines of cells
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		cells := make([][]string, len(row))
		for j, text := range row {
			cells[j] = wrapped(text, widths[j], cell)
		}
		rows = append(rows, cells)
	}
	full = max(full, min(tableWidth, title.Width(t.Title)))
	titles := wrapped(t.Title, full, title)
	var notes []string
	for _, n := range t.Notes {
		notes = append(notes, wrapped(n, full, cell)...)
	}
	height := vg.Length(len(titles))*(tableLine+2) + 4
	for _, row := range rows {
		height += rowHeight(row)
	}
	if len(notes) > 0 {
		height += vg.Length(len(notes))*tableLine + 2*tableBefore
	}
	sheet := newCanvas(full+2*margin, height+2*margin)
	at := pen{draw.Crop(whitened(sheet), margin, -margin, margin, -margin), 0}
	at.y = at.canvas.Max.Y
	for _, line := range titles {
		at.write(title, 0, tableLine+2, line)
		at.y -= tableLine + 2
	}
	at.y -= 4
	at.rule(1)
	right := t.RightAligned()
	for i, row := range rows {
		x := vg.Length(0)
		for j, lines := range row {
			style, where := cell, x
			if right[j] {
				style.XAlign, where = text.XRight, x+widths[j]
			}
			for k, line := range lines {
				at.write(style, where, tableBefore+vg.Length(k+1)*tableLine, line)
			}
			x += widths[j] + tableGap
		}
		at.y -= rowHeight(row)
		if i == 0 {
			at.rule(0.5)
		}
	}
	at.rule(1)
	at.y -= tableBefore
	for _, line := range notes {
		at.write(cell, 0, tableLine, line)
		at.y -= tableLine
	}
	return sheet
}

// pen writes from the left edge of a canvas, below y.
type pen struct {
	canvas draw.Canvas
	y      vg.Length
}

// write writes a line whose lower end is by that much below the pen.
func (p pen) write(style text.Style, x, below vg.Length, line string) {
	p.canvas.FillText(style, vg.Point{X: p.canvas.Min.X + x, Y: p.y - below + 2.5}, line)
}

func (p pen) rule(width vg.Length) {
	p.canvas.StrokeLine2(draw.LineStyle{Color: style0.Color, Width: width}, p.canvas.Min.X, p.y, p.canvas.Max.X, p.y)
}

var style0 = textStyle(cellSize)

func rowHeight(row [][]string) vg.Length {
	lines := 1
	for _, cell := range row {
		lines = max(lines, len(cell))
	}
	return vg.Length(lines)*tableLine + 2*tableBefore
}

// widths returns the columns' widths. If the table would be too wide, its widest columns become narrower, whose cells
// wrap; words break only if no column has a space left.
func (t *textTable) widths(style text.Style) []vg.Length {
	widths, words := make([]vg.Length, len(t.Columns)), make([]vg.Length, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for j, cell := range row {
			widths[j] = max(widths[j], style.Width(cell)+0.5)
			for _, word := range split(cell) {
				words[j] = max(words[j], style.Width(word)+0.5)
			}
		}
	}
	for {
		excess := -tableWidth + vg.Length(len(widths)-1)*tableGap
		widest, breaking := -1, 0
		for j, w := range widths {
			excess += w
			if w > words[j] && (widest < 0 || w > widths[widest]) {
				widest = j
			}
			if w > widths[breaking] {
				breaking = j
			}
		}
		least := vg.Length(20)
		if widest >= 0 {
			least = words[widest]
		} else {
			widest = breaking
		}
		if excess <= 0 || widths[widest] <= least {
			return widths
		}
		widths[widest] = max(least, widths[widest]-min(excess, 4))
	}
}

// split returns the words of a label, between which a line may break. Spaces that don't break are part of words.
func split(label string) []string {
	return strings.FieldsFunc(label, func(r rune) bool { return r == ' ' || r == '\n' })
}

// wrapped breaks a label into lines of at most a width, at spaces or, in a word that is too long, anywhere.
func wrapped(label string, width vg.Length, style text.Style) []string {
	var lines []string
	line := ""
	for _, word := range split(label) {
		if line != "" && style.Width(line+" "+word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		letters := []rune(word)
		for len(letters) > 1 && style.Width(string(letters)) > width {
			n := len(letters) - 1
			for n > 1 && style.Width(string(letters[:n])) > width {
				n--
			}
			lines = append(lines, string(letters[:n]))
			letters = letters[n:]
		}
		line = string(letters)
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return closed(lines)
}

// closed ends the markup of each line in the line, and goes on with it in the next.
func closed(lines []string) []string {
	for _, mark := range []string{"*", "^"} {
		open := false
		for i, line := range lines {
			if open {
				line = mark + line
			}
			if open = strings.Count(line, mark)%2 == 1; open {
				line += mark
			}
			lines[i] = line
		}
	}
	return lines
}
