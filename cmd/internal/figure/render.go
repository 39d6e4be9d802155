package figure

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/google/renameio/v2/maybe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
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

// Figure is a figure's numbers, for [Encode] and [Inline] to draw.
type Figure interface {
	// Table returns the numbers, below a row of column names.
	Table() [][]string

	drawing() drawing
}

// File is a figure in one format.
type File struct {
	Extension string // csv, pdf, png or svg
	Content   []byte
}

// extensions are those of a figure's files.
var extensions = [...]string{"csv", "pdf", "png", "svg"}

// Encode draws a figure in the given formats, or in all four of them. It takes seconds for many panels.
func Encode(f Figure, formats ...string) ([]File, error) {
	if len(formats) == 0 {
		formats = extensions[:]
	}
	var files []File
	for _, extension := range formats {
		var content []byte
		var err error
		switch extension {
		case "csv":
			content, err = CSV(f.Table())
		case "pdf":
			timeless()
			content, err = f.drawing().render(func(w, h vg.Length) canvas { return vgpdf.New(w, h) })
		case "png":
			content, err = f.drawing().render(newPNG)
		case "svg":
			content, err = f.drawing().render(newSVG)
		}
		if err != nil {
			return nil, fmt.Errorf("make a figure's %s: %w", extension, err)
		}
		files = append(files, File{extension, content})
	}
	return files, nil
}

// CSV returns rows as a CSV file.
func CSV(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
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

func newPNG(width, height vg.Length) canvas {
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}
}

func (d drawing) render(newCanvas func(width, height vg.Length) canvas) ([]byte, error) {
	var out bytes.Buffer
	if _, err := d.draw(newCanvas).WriteTo(&out); err != nil {
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
	whole := draw.New(sheet)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	all := draw.Crop(whole, margin, -margin, margin, -margin)
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

// number prints a value with all digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// numbers prints values with all digits.
func numbers(values ...float64) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = number(v)
	}
	return texts
}

// up prints a positive bound with three digits, rounded up, so that it remains a bound.
func up(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= v {
		return text
	}
	unit := math.Pow10(int(math.Floor(math.Log10(v))) - 2)
	return strconv.FormatFloat(v+unit/2, 'g', 3, 64)
}

// ErrExists reports that a file of the figure exists.
var ErrExists = errors.New("already exists")

func pathOf(dir, name, extension string) string { return filepath.Join(dir, name+"."+extension) }

// Check returns an error that wraps [ErrExists] if a figure's files are in dir already: NAME.csv, NAME.pdf, NAME.png
// and NAME.svg, and another if dir can't be read. Call it before computing the figure, which can take minutes.
func Check(dir, name string) error {
	for _, extension := range extensions {
		path := pathOf(dir, name, extension)
		switch _, err := os.Lstat(path); {
		case err == nil:
			return fmt.Errorf("%s %w", path, ErrExists)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("output directory: %w", err)
		}
	}
	return nil
}

// Write writes a figure's files to dir, which it makes if necessary, and returns their paths. No file is ever visible
// half written.
func Write(dir, name string, files []File) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	var paths []string
	for _, f := range files {
		path := pathOf(dir, name, f.Extension)
		if err := maybe.WriteFile(path, f.Content, 0o644); err != nil {
			return nil, fmt.Errorf("write figure: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

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
