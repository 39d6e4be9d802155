package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// chart is what a chart shows.
type chart struct {
	ID          string
	Title       string // for readers that see no picture
	Description string
	x, y        axis
	curves      []curve
	dots        []dot
}

// curve is a line, with gaps at points that aren't finite.
type curve struct {
	name  string // beside its end; "" for none
	class string // of the style sheet
	x, y  []float64
}

// dot is a point of its own.
type dot struct {
	x, y  float64
	name  string // beside it; "" for none
	title string // shown by a pointing device
	class string
	shape string // one of shapes
}

// Size of a chart in pixels of the picture: the style sheet scales it.
const (
	chartWidth   = 460.
	chartHeight  = 296.
	marginLeft   = 60.
	marginRight  = 24.
	marginTop    = 38.
	marginBottom = 46.
	labelHeight  = 17.
)

// frame has the lengths that positions are computed from.
type frame struct{ left, right, top, bottom float64 }

func (c chart) frame() frame {
	f := frame{marginLeft, chartWidth - marginRight, marginTop, chartHeight - marginBottom}
	for _, k := range c.curves { // space for the names at their ends
		if k.name != "" {
			f.right = math.Min(f.right, chartWidth-12-nameWidth(k.name))
		}
	}
	return f
}

// position returns the coordinates of a point. It returns false for a point that isn't finite, or outside the axes.
func (c chart) position(x, y float64) (px, py float64, ok bool) {
	f := c.frame()
	u, v := c.x.at(x), c.y.at(y)
	const tolerance = 1e-6
	if !(u >= -tolerance && u <= 1+tolerance && v >= -tolerance && v <= 1+tolerance) {
		return 0, 0, false
	}
	return f.left + u*(f.right-f.left), f.bottom - v*(f.bottom-f.top), true
}

// path returns the SVG path of a curve, and the position of its last point.
func (c chart) path(k curve) (path string, x, y float64) {
	var b strings.Builder
	move := "M"
	for i := range k.x {
		px, py, ok := c.position(k.x[i], k.y[i])
		if !ok {
			move = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.2f %.2f", move, px, py)
		move, x, y = "L", px, py
	}
	return b.String(), x, y
}

// shapes has the SVG path of each shape around the origin.
var shapes = map[string]string{
	"circle":   "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
	"square":   "M-4-4h8v8h-8z",
	"diamond":  "M0-6L6 0L0 6L-6 0z",
	"triangle": "M0-5L5 4H-5z",
	"cross":    "M-4-4L4 4M-4 4L4-4",
	"down":     "M0 5L5-4H-5z", // a value below the axis
}

// drawn is a chart as its template takes it: all numbers are texts.
type drawn struct {
	chart
	Width, Height            float64
	Left, Right, Top, Bottom float64
	XTicks, YTicks           []drawnTick
	XLabel, YLabel           []Span
	Lines                    []drawnLine
	Dots                     []drawnDot
	Names                    []drawnName
}

type drawnTick struct{ At, Text string }
type drawnLine struct{ Class, Path string }
type drawnDot struct{ Class, Path, Transform, Title string }
type drawnName struct {
	Class, Anchor, X, Y string
	Text                []Span
}

// draw lays out the chart.
func (c chart) draw() drawn {
	f := c.frame()
	d := drawn{
		chart: c, Width: chartWidth, Height: chartHeight, Left: f.left, Right: f.right, Top: f.top, Bottom: f.bottom,
		XLabel: italics(c.x.label), YLabel: italics(c.y.label),
	}
	for _, t := range c.x.ticks {
		d.XTicks = append(d.XTicks, drawnTick{px(f.left + c.x.at(t.value)*(f.right-f.left)), t.text})
	}
	for _, t := range c.y.ticks {
		text := t.text
		if c.y.percent {
			text = minus(trimmed(100*t.value)) + " %"
		}
		d.YTicks = append(d.YTicks, drawnTick{px(f.bottom - c.y.at(t.value)*(f.bottom-f.top)), text})
	}
	var ends []end
	for _, k := range c.curves {
		path, x, y := c.path(k)
		if path == "" {
			continue
		}
		d.Lines = append(d.Lines, drawnLine{k.class, path})
		if k.name != "" {
			ends = append(ends, end{k, x, y})
		}
	}
	spread(ends, f.top+4, f.bottom-4)
	for _, e := range ends {
		d.Names = append(d.Names, drawnName{e.class, "start", px(e.x + 8), px(e.y + 4), italics(e.name)})
	}
	var named []dot
	for _, p := range c.dots {
		x, y, ok := c.position(p.x, p.y)
		if !ok {
			continue
		}
		d.Dots = append(d.Dots, drawnDot{p.class, shapes[p.shape], "translate(" + px(x) + " " + px(y) + ")", p.title})
		if p.name != "" {
			named = append(named, p)
		}
	}
	d.Names = append(d.Names, c.namesOf(named)...)
	return d
}

// end is the name at the end of a curve.
type end struct {
	curve
	x, y float64
}

// spread moves names apart vertically, and keeps them between top and bottom if there is space for all.
func spread(ends []end, top, bottom float64) {
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	for i := range ends {
		least := top
		if i > 0 {
			least = ends[i-1].y + labelHeight
		}
		ends[i].y = math.Max(ends[i].y, least)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		most := bottom - float64(len(ends)-1-i)*labelHeight
		ends[i].y = math.Max(top+float64(i)*labelHeight, math.Min(ends[i].y, most))
	}
}

func px(v float64) string { return fmt.Sprintf("%.2f", v) }

// italics splits a label at asterisks: every second part is a variable.
func italics(label string) []Span {
	var out []Span
	for i, text := range strings.Split(label, "*") {
		if text != "" {
			out = append(out, Span{text, []string{"", "italic"}[i%2]})
		}
	}
	return out
}
