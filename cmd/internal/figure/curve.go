package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// parts returns the plotters of a curve: its error bars, its line between gaps, and its markers.
func (c curve) parts() []plot.Plotter {
	var parts []plot.Plotter
	if c.xBars != nil || c.yBars != nil {
		parts = append(parts, bars(c))
	}
	var run []plotter.XY
	end := func() {
		if len(run) > 0 {
			parts = append(parts, shifted{&plotter.Line{XYs: run, LineStyle: c.line()}, c.shift})
		}
		run = nil
	}
	points := &plotter.Scatter{GlyphStyle: c.marker}
	for i := range c.x {
		if !finite(c.x[i], c.y[i]) {
			end()
			continue
		}
		at := plotter.XY{X: c.x[i], Y: c.y[i]}
		run = append(run, at)
		if c.every > 0 && i >= c.first && (i-c.first)%c.every == 0 {
			points.XYs = append(points.XYs, at)
		}
	}
	end()
	return append(parts, shifted{points, c.shift})
}

func (c curve) line() draw.LineStyle {
	style := c.stroke
	style.Color = c.marker.Color
	return style
}

// shifted draws something further to the right.
type shifted struct {
	what interface {
		plot.Plotter
		plot.DataRanger
		plot.Thumbnailer
	}
	by vg.Length
}

func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Rectangle = c.Rectangle.Add(vg.Point{X: s.by})
	s.what.Plot(c, p)
}

func (s shifted) DataRange() (left, right, bottom, top float64) {
	if points, ok := s.what.(*plotter.Scatter); ok && len(points.XYs) == 0 {
		return math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	}
	return s.what.DataRange()
}

func (s shifted) Thumbnail(c *draw.Canvas) { s.what.Thumbnail(c) }

// GlyphBoxes keeps markers inside the panel.
func (s shifted) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxer, ok := s.what.(plot.GlyphBoxer)
	if !ok {
		return nil
	}
	boxes := boxer.GlyphBoxes(p)
	for i := range boxes {
		boxes[i].Rectangle = boxes[i].Rectangle.Add(vg.Point{X: s.by})
	}
	return boxes
}

// bars draws a curve's error bars, with caps.
type bars curve

// cap of an error bar, to each side, in points.
const barCap = 1.6

func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	c.Rectangle = c.Rectangle.Add(vg.Point{X: b.shift})
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: b.marker.Color, Width: 0.7}
	line := func(x0, y0, x1, y1 vg.Length) { c.StrokeLine2(style, x0, y0, x1, y1) }
	b.each(b.yBars, func(i int, low, high float64) {
		at, from, to := x(b.x[i]), y(low), y(high)
		line(at, from, at, to)
		line(at-barCap, from, at+barCap, from)
		line(at-barCap, to, at+barCap, to)
	})
	b.each(b.xBars, func(i int, low, high float64) {
		at, from, to := y(b.y[i]), x(low), x(high)
		line(from, at, to, at)
		line(from, at-barCap, from, at+barCap)
		line(to, at-barCap, to, at+barCap)
	})
}

// each calls do with the ends of bars of positive length.
func (b bars) each(ends [][2]float64, do func(i int, low, high float64)) {
	for i, e := range ends {
		if finite(b.x[i], b.y[i], e[0], e[1]) && e[0] < e[1] {
			do(i, e[0], e[1])
		}
	}
}

func (b bars) DataRange() (left, right, bottom, top float64) {
	left, right, bottom, top = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	b.each(b.yBars, func(_ int, low, high float64) { bottom, top = math.Min(bottom, low), math.Max(top, high) })
	b.each(b.xBars, func(_ int, low, high float64) { left, right = math.Min(left, low), math.Max(right, high) })
	return left, right, bottom, top
}

// sentence is a text in the middle of a panel.
type sentence string

func (s sentence) Plot(c draw.Canvas, _ *plot.Plot) {
	style := textStyle(tickSize)
	style.Color, style.XAlign, style.YAlign = noteColor, text.XCenter, text.YCenter
	c.FillText(style, c.Center(), string(s))
}

// finite reports whether values can be drawn. The axis of a larger value would end beyond all numbers.
func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !(math.Abs(v) <= 1e300) })
}
