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

// parts returns the plotters of a curve: its dots, its error bars, its medians, its line between gaps, and its markers.
func (c curve) parts() []plot.Plotter {
	bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: c.marker.Color, Width: 0.7}, CapWidth: barCap}
	parts := []plot.Plotter{shifted{bars, c.shift}}
	if len(c.runs) > 0 {
		dots := &plotter.Scatter{XYs: c.runs, GlyphStyle: marker{Color: faint(c.marker.Color), Radius: 1.4, Shape: dash{1.4}}}
		medians := &plotter.Scatter{XYs: c.medians, GlyphStyle: marker{Color: c.marker.Color, Radius: 2 * radius, Shape: dash{1.6}}}
		parts = []plot.Plotter{shifted{dots, c.shift + besideBar}, shifted{bars, c.shift}, shifted{medians, c.shift}}
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
		if i < len(c.bars) && drawn(c.bars[i]) {
			bars.XYs = append(bars.XYs, at)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{at.Y - c.bars[i][0], c.bars[i][1] - at.Y})
		}
	}
	end()
	return append(parts, shifted{points, c.shift})
}

// Points: the width of an error bar's caps, and the distance of dots from their bar.
const (
	barCap    = 3.2
	besideBar = 1.7
)

// drawn reports whether an error bar is drawn: its ends are known and differ.
func drawn(ends [2]float64) bool { return finite(ends[:]...) && ends[0] < ends[1] }

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
	}
	by vg.Length
}

func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Rectangle = c.Rectangle.Add(vg.Point{X: s.by})
	s.what.Plot(c, p)
}

func (s shifted) DataRange() (left, right, bottom, top float64) {
	return s.what.DataRange()
}

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
