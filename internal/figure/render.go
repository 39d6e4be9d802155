package figure

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of the whole, in points.
const (
	panelWidth  = 252.
	panelHeight = 216.
	panelSpace  = 14.
	margin      = 5.
	keyMargin   = 6. // below the key
	keyLine     = 13.
	keySample   = 26.
	keySpace    = 16. // between entries
	noteLine    = 14. // a note below a panel's title
)

// dotsPerInch of PNG files.
const dotsPerInch = 300

// Figure is a figure's numbers, for [Place.Encode] to draw.
type Figure interface {
	// Table returns the numbers, below a row of column names.
	Table() [][]string

	drawing() drawing
}

type format struct {
	extension string
	encode    func(Figure) ([]byte, error)
}

var formats = []format{
	{"csv", CSV},
	{"pdf", func(f Figure) ([]byte, error) { return render(f.drawing(), newPDF) }},
	{"png", func(f Figure) ([]byte, error) { return render(f.drawing(), newPNG) }},
	{"svg", func(f Figure) ([]byte, error) { return render(f.drawing(), newSVG) }},
}

// CSV returns the numbers of a figure as a CSV file.
func CSV(f Figure) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(f.Table()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// canvas is the interface of gonum's formats.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// timeless removes the current time from PDF files, by fpdf's defaults: gonum hides a document's dates.
var timeless = sync.OnceFunc(func() {
	epoch := time.Unix(0, 0).UTC()
	fpdf.SetDefaultCreationDate(epoch)
	fpdf.SetDefaultModificationDate(epoch)
	fpdf.SetDefaultCatalogSort(true)
})

func newPDF(width, height vg.Length) canvas {
	timeless()
	return vgpdf.New(width, height)
}

func newPNG(width, height vg.Length) canvas {
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}
}

func newSVG(width, height vg.Length) canvas { return vgsvg.New(width, height) }

func render(d drawing, newCanvas func(width, height vg.Length) canvas) ([]byte, error) {
	var sheet canvas
	if d.table != nil {
		sheet = d.table.draw(newCanvas)
	} else {
		sheet = d.draw(newCanvas)
	}
	var out bytes.Buffer
	if _, err := sheet.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return out.Bytes(), nil
}

// draw draws the key and, below it, the panels.
func (d drawing) draw(newCanvas func(width, height vg.Length) canvas) canvas {
	columns := cmp.Or(d.columns, len(d.panels))
	rows := (len(d.panels) + columns - 1) / columns
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	for i, p := range d.panels {
		plots[i/columns][i%columns] = newPlot(p)
	}
	panelWidth, panelHeight := cmp.Or(d.width, panelWidth), cmp.Or(d.height, panelHeight)
	n, m := vg.Length(columns), vg.Length(rows)
	width := n*panelWidth + (n-1)*panelSpace + 2*margin
	// The key begins in line with the first panel's axis.
	tile := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: panelWidth, Y: panelHeight}}}
	indent := plots[0][0].DataCanvas(tile).Min.X
	key, keyHeight := layKey(d.key, width-2*margin-indent)

	sheet := newCanvas(width, m*panelHeight+(m-1)*panelSpace+keyMargin+keyHeight+2*margin)
	all := draw.Crop(whitened(sheet), margin, -margin, margin, -margin)
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: panelSpace, PadY: panelSpace, PadTop: keyHeight + keyMargin}
	places := plot.Align(plots, tiles, all)
	for i, p := range d.panels {
		plot, place := plots[i/columns][i%columns], places[i/columns][i%columns]
		plot.Draw(place)
		drawNote(place, plot.DataCanvas(place), p.note)
	}
	for _, l := range key {
		l.Draw(draw.Crop(all, indent, 0, 0, 0))
	}
	return sheet
}

// whitened returns a canvas to draw on, which is white.
func whitened(sheet canvas) draw.Canvas {
	all := draw.New(sheet)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	return all
}

// drawNote draws a panel's note between title and data.
func drawNote(panel, data draw.Canvas, note string) {
	if note == "" {
		return
	}
	style := textStyle(tickSize)
	style.Color, style.XAlign = noteColor, text.XCenter
	panel.FillText(style, vg.Point{X: panel.Center().X, Y: data.Max.Y + 6}, note)
}

// layKey returns a legend for each entry of a key, in rows that are broken to fit into the width.
func layKey(rows [][]keyEntry, width vg.Length) (key []plot.Legend, height vg.Length) {
	for _, row := range rows {
		x := vg.Length(0)
		for _, e := range row {
			l := plot.NewLegend()
			l.TextStyle, l.ThumbnailWidth, l.Left, l.Top = textStyle(textSize), keySample, true, true
			sample := curve{stroke: e.stroke, marker: e.marker}
			l.Add(e.text, &plotter.Line{LineStyle: sample.line()}, &plotter.Scatter{GlyphStyle: e.marker})
			w := l.Rectangle(draw.Canvas{}).Size().X
			if x > 0 && x+w > width {
				x = 0
				height += keyLine
			}
			l.XOffs, l.YOffs = x, -height
			key = append(key, l)
			x += w + keySpace
		}
		height += keyLine
	}
	return key, height
}
