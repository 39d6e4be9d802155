package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawing is the content of a figure, in any format.
type drawing struct {
	panels []panel // row by row
	key    [][]keyEntry

	columns       int       // of panels; 0 puts all of them side by side
	width, height vg.Length // of a panel; 0 is the usual size
}

type panel struct {
	title  string
	note   string // below the title
	empty  string // in the middle of a panel without a curve, whose axes have no ticks
	x, y   axis
	curves []curve // later ones over earlier ones
}

// axis reaches from low to high, or spans its curves if neither is given.
type axis struct {
	label     string
	low, high float64
	log       bool // values are decimal logarithms of the ticks' numbers
}

// curve joins points by a line, which has a gap at each point that isn't finite.
type curve struct {
	x, y         []float64
	bars         [][2]float64 // ends of an error bar at each point, drawn if finite; nil for none
	runs         plotter.XYs  // faint dots behind the points
	medians      plotter.XYs  // dashes
	shift        vg.Length    // to the right, so that error bars at the same x are beside each other
	stroke       stroke
	marker       marker
	first, every int    // points that get a marker, so that markers of close curves don't coincide
	label        string // beside the last point
}

type keyEntry struct {
	text   string
	stroke stroke
	marker marker
}

type (
	stroke = draw.LineStyle  // without its colour
	marker = draw.GlyphStyle // with the colour of its line; the shape is nil for none
)

// strokes distinguish groups of curves.
var strokes = []stroke{
	{Width: 1},
	{Width: 1, Dashes: []vg.Length{5, 2.5}},
	{Width: 1.3, Dashes: []vg.Length{1.3, 1.7}},
}

// markers distinguish the curves of a group. Their colours differ in lightness, and also for people who don't see red
// or green (Okabe and Ito).
var markers = []marker{
	{Color: color.RGBA{0x00, 0x72, 0xb2, 0xff}, Radius: radius, Shape: polygon{32, 0}},
	{Color: color.RGBA{0xd5, 0x5e, 0x00, 0xff}, Radius: radius, Shape: polygon{3, 0}},
	{Color: color.Gray{0}, Radius: radius, Shape: polygon{4, 1. / 8}},
	{Color: color.Gray{0x70}, Radius: radius, Shape: polygon{4, 0}},
}

// Colours that no curve has.
var (
	gridColor = color.Gray{0xdd}
	noteColor = color.Gray{0x50}
)

// radius of a circle with the area of any marker, in points.
const radius = 2.2

// polygon is a regular polygon, filled white so that it stands out from its line. Lines show through gonum's outlined
// glyphs, which are half a point thin and lack a diamond, and whose circles break up a path in PDF files.
type polygon struct {
	sides int
	turn  float64 // from a corner on top, in turns
}

func (p polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	n := float64(p.sides)
	r := float64(sty.Radius) * math.Sqrt(2*math.Pi/(n*math.Sin(2*math.Pi/n)))
	var corners []vg.Point
	for i := range p.sides + 1 {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i)/n + p.turn))
		corners = append(corners, at.Add(vg.Point{X: vg.Length(r * sin), Y: vg.Length(r * cos)}))
	}
	c.FillPolygon(color.White, corners)
	c.StrokeLines(draw.LineStyle{Color: sty.Color, Width: 0.9}, corners)
}

// dash is a horizontal stroke as long as the glyph's radius, and width thick.
type dash struct{ width vg.Length }

func (d dash) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	half := vg.Point{X: sty.Radius / 2}
	c.StrokeLines(draw.LineStyle{Color: sty.Color, Width: d.width}, []vg.Point{at.Sub(half), at.Add(half)})
}

// faint is a colour of which overlapping marks add up.
func faint(c color.Color) color.Color {
	of := color.NRGBAModel.Convert(c).(color.NRGBA)
	of.A = 0x60
	return of
}

// Sizes of text, in points. A figure of two panels is as wide as a page of text, so these are the printed sizes.
const (
	textSize = 9
	tickSize = 8
	lines    = 18 // of tickSize, with gaps, that a panel is high
)

func newPlot(p panel) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.Title.Text, out.Title.TextStyle = p.title, textStyle(textSize)
	out.Title.TextStyle.XAlign, out.Title.TextStyle.YAlign = text.XCenter, text.YTop
	out.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: gridColor, Width: 0.5}})
	if p.note != "" {
		out.Title.Padding += noteLine
	}
	for _, c := range p.curves {
		out.Add(c.parts()...)
	}
	setAxis(&out.X, p.x)
	setAxis(&out.Y, p.y)
	if len(p.curves) == 0 {
		out.Y.Tick.Marker = plot.ConstantTicks{}
		out.Add(sentence(p.empty))
		return out
	}
	out.Add(endLabels(p.curves, out.Y.Max, (out.Y.Max-out.Y.Min)/lines))
	return out
}

// setAxis sets the axis of a plot, which already spans the curves.
func setAxis(out *plot.Axis, a axis) {
	low, high := out.Min, out.Max
	if a.low < a.high {
		low, high = a.low, a.high
	} else if low == high {
		high++
	}
	marks := ticks(low, high)
	if a.log {
		marks = logTicks(low, high)
	}
	out.Min, out.Max, out.Tick.Marker = marks[0].Value, marks[len(marks)-1].Value, marks
	thin := draw.LineStyle{Color: color.Black, Width: 0.5}
	label, tick := textStyle(textSize), textStyle(tickSize)
	out.Label.Text, out.Label.TextStyle.Font, out.Label.TextStyle.Handler = a.label, label.Font, label.Handler
	out.Label.Padding = 2
	out.Tick.Label.Font, out.Tick.Label.Handler = tick.Font, tick.Handler
	out.LineStyle, out.Tick.LineStyle = thin, thin
	out.Tick.Length, out.Padding = 3, 0
}

// endLabels returns the labels of curves, each beside the end of its curve. Labels at one x are kept a gap apart and
// below the top.
func endLabels(curves []curve, top, gap float64) *plotter.Labels {
	type end struct {
		plotter.XY
		label string
	}
	var ends []end
	for _, c := range curves {
		if last := len(c.x) - 1; c.label != "" && finite(c.x[last], c.y[last]) {
			ends = append(ends, end{plotter.XY{X: c.x[last], Y: c.y[last]}, c.label})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	labels := &plotter.Labels{Offset: vg.Point{X: 6, Y: 1}}
	style := textStyle(tickSize)
	style.YAlign = text.YCenter
	for i, e := range ends {
		above := 0
		for i+above+1 < len(ends) && ends[i+above+1].X == e.X {
			above++
		}
		if i > 0 && ends[i-1].X == e.X {
			e.Y = max(e.Y, labels.XYs[i-1].Y+gap)
		}
		e.Y = min(e.Y, top-float64(above)*gap)
		labels.XYs, labels.Labels, labels.TextStyle = append(labels.XYs, e.XY), append(labels.Labels, e.label), append(labels.TextStyle, style)
	}
	return labels
}

// setText sets labels. Labels of figures that become PDF files are ASCII: gonum's PDF fonts have no Greek
// (gonum.org/v1/plot v0.17.0).
var setText = text.Plain{Fonts: font.NewCache(liberation.Collection())}

func textStyle(size vg.Length) text.Style {
	s := text.Style{Color: color.Black, Font: plot.DefaultFont, Handler: setText}
	s.Font.Variant, s.Font.Size = "Sans", size
	return s
}
