package figure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
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
)

// dotsPerInch of PNG files.
const dotsPerInch = 300

// A Figure is numbers that can be drawn.
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
	{"csv", encodeCSV},
	{"pdf", func(f Figure) ([]byte, error) { return render(f.drawing(), newPDF) }},
	{"png", func(f Figure) ([]byte, error) { return render(f.drawing(), newPNG) }},
	{"svg", func(f Figure) ([]byte, error) { return render(f.drawing(), newSVG) }},
}

func encodeCSV(f Figure) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(f.Table()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// canvas is what gonum's formats have in common.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// timeless takes the time of day out of PDF files. Gonum gives no other way to a document's dates than
// their defaults.
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
	var plots []*plot.Plot
	for _, p := range d.panels {
		plots = append(plots, newPlot(p))
	}
	n := vg.Length(len(plots))
	width := n*panelWidth + (n-1)*panelSpace + 2*margin
	// The key begins in line with the first panel's axis.
	tile := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: panelWidth, Y: panelHeight}}}
	indent := plots[0].DataCanvas(tile).Min.X
	key, keyHeight := layKey(d.key, width-2*margin-indent)
	height := panelHeight + keyMargin + keyHeight + 2*margin

	sheet := newCanvas(width, height)
	all := draw.New(sheet)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all = draw.Crop(all, margin, -margin, margin, -margin)

	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: panelSpace, PadTop: keyHeight + keyMargin}
	places := plot.Align([][]*plot.Plot{plots}, tiles, all)
	for i, p := range plots {
		p.Draw(places[0][i])
	}
	drawKey(draw.Crop(all, indent, 0, 0, 0), key)

	var out bytes.Buffer
	if _, err := sheet.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return out.Bytes(), nil
}
