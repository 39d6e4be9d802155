package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text, in points. A figure of two panels is as wide as a page of text, so these are what is printed.
const (
	textSize = 9
	tickSize = 8
)

var (
	letters   = newTypeset()
	lightGrey = color.Gray{0xdd}
	thin      = draw.LineStyle{Color: color.Black, Width: 0.5}
)

func textStyle(size vg.Length) text.Style {
	s := text.Style{Color: color.Black, Font: plot.DefaultFont, Handler: letters}
	s.Font.Variant, s.Font.Size = "Sans", size
	return s
}

// newPlot turns a panel into a plot.
func newPlot(p panel) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.Title.Text, out.Title.TextStyle = p.title, textStyle(textSize)
	out.Title.TextStyle.XAlign, out.Title.TextStyle.YAlign = text.XCenter, text.YTop
	setAxis(&out.X, p.x, ticks(p.span(p.x, func(c curve) []float64 { return c.x })))
	setAxis(&out.Y, p.y, ticks(p.span(p.y, func(c curve) []float64 { return c.y })))
	out.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: lightGrey, Width: 0.5}})
	for _, c := range p.curves {
		out.Add(c)
	}
	out.Add(newEndLabels(p.curves))
	return out
}

func setAxis(out *plot.Axis, a axis, marks plot.ConstantTicks) {
	out.Label.Text, out.Label.TextStyle.Font, out.Label.TextStyle.Handler = a.label, textStyle(textSize).Font, letters
	out.Label.Padding = 2
	out.Tick.Label.Font, out.Tick.Label.Handler = textStyle(tickSize).Font, letters
	out.LineStyle, out.Tick.LineStyle = thin, thin
	out.Tick.Length, out.Padding = 3, 0
	out.Min, out.Max, out.Tick.Marker = marks[0].Value, marks[len(marks)-1].Value, marks
}

// span returns what an axis has to show.
func (p panel) span(a axis, of func(curve) []float64) (low, high float64) {
	if a.min < a.max {
		return a.min, a.max
	}
	low, high = math.Inf(1), math.Inf(-1)
	if a.zero {
		low = 0
	}
	for _, c := range p.curves {
		for _, v := range of(c) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low == high {
		high = low + 1
	}
	return low, high
}

// Plot draws a curve, with its markers over the line.
func (c curve) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	points := make([]vg.Point, len(c.x))
	for i := range points {
		points[i] = vg.Point{X: toX(c.x[i]), Y: toY(c.y[i])}
	}
	canvas.StrokeLines(c.stroke.style(c.marker.colour), points)
	for i := c.first; c.every > 0 && i < len(points); i += c.every {
		c.marker.draw(canvas, points[i])
	}
}

func (s stroke) style(colour color.Color) draw.LineStyle {
	style := draw.LineStyle{Color: colour, Width: vg.Length(s.width)}
	for _, d := range s.dashes {
		style.Dashes = append(style.Dashes, vg.Length(d))
	}
	return style
}

// radius of a circle with the area of any marker, in points.
const radius = 2.2

func (m marker) draw(c draw.Canvas, at vg.Point) {
	if m.sides == 0 {
		return
	}
	n := float64(m.sides)
	r := radius * math.Sqrt(2*math.Pi/(n*math.Sin(2*math.Pi/n)))
	var path vg.Path
	for i := range m.sides {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i)/n + m.turn))
		corner := at.Add(vg.Point{X: vg.Length(r * sin), Y: vg.Length(r * cos)})
		if i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	c.SetColor(color.White)
	c.Fill(path)
	c.SetLineStyle(stroke{width: 0.9}.style(m.colour))
	c.Stroke(path)
}
