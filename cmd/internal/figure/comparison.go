package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Comparison shows the results of several methods, each by one or more accountings, in panels of a grid. Markers and
// colours distinguish methods, dashes distinguish accountings. Points are means; their error bars are standard errors.
type Comparison struct {
	Methods     []string          // at most four; one without a name isn't in the key
	Accountings []string          // at most three
	Columns     int               // of panels, at least one
	Small       bool              // panels, for a grid of three or more columns
	Apart       bool              // methods at the same x are drawn beside each other
	Panels      []ComparisonPanel // at least one
	Numbers     [][]string        // of the CSV file: a row of column names, and below it the numbers
}

// ComparisonPanel is a panel of a [Comparison].
type ComparisonPanel struct {
	Title  string
	Note   string // below the title; may be empty
	X, Y   string // labels of the axes
	LogX   bool   // the x axis is logarithmic and begins with the points; otherwise it begins at 0
	LogY   bool
	Series []Series
}

// Series are the points of a method by an accounting, which are joined in their order.
type Series struct {
	Method, Accounting int    // indices of the figure's
	Bare               bool   // without markers
	Label              string // beside the last point
	Points             []Mean
}

// Mean is a point of a [Series]. A standard error of 0 or NaN has no bar. Values that aren't finite are missing, and so
// are values not above 0 on a logarithmic axis.
type Mean struct {
	X, XError float64
	Y, YError float64 // Y is NaN for a missing point, which leaves a gap
}

// Table returns c.Numbers.
func (c Comparison) Table() [][]string { return c.Numbers }

func (c Comparison) drawing() drawing {
	d := drawing{columns: min(c.Columns, len(c.Panels))}
	if c.Small {
		d.width, d.height = smallWidth, smallHeight
	}
	end := 0.
	for _, p := range c.Panels {
		end = math.Max(end, p.end())
	}
	if !(end > 1e-12) {
		end = 1 // without a point
	}
	noted := slices.ContainsFunc(c.Panels, func(p ComparisonPanel) bool { return p.Note != "" })
	for _, p := range c.Panels {
		apart := 0
		if c.Apart {
			apart = len(c.Methods)
		}
		out := p.panel(apart)
		if !p.LogX {
			out.x.high = end
		}
		if noted && out.note == "" {
			out.note = " " // titles beside each other are at one height
		}
		d.panels = append(d.panels, out)
	}
	var byMethod, byAccounting []keyEntry
	for i, name := range c.Methods {
		if name != "" {
			byMethod = append(byMethod, keyEntry{name, strokes[0], markers[i]})
		}
	}
	for i, name := range c.Accountings {
		byAccounting = append(byAccounting, keyEntry{name + " accounting", strokes[i], marker{}})
	}
	d.key = [][]keyEntry{byMethod}
	if len(byAccounting) > 1 {
		d.key = append(d.key, byAccounting)
	}
	return d
}

// Size of a small panel, and the distance between points of different methods at the same x, in points.
const (
	smallWidth  = 172.
	smallHeight = 146.
	sideways    = 2.2
)

// panel draws apart methods beside each other; 0 draws all at their x.
func (p ComparisonPanel) panel(apart int) panel {
	out := panel{title: p.Title, note: p.Note, empty: "no values", x: axis{label: p.X, log: p.LogX}, y: axis{label: p.Y, log: p.LogY}}
	for _, s := range p.Series {
		c := curve{stroke: strokes[s.Accounting], marker: markers[s.Method], every: 1 + len(s.Points)/40, label: s.Label}
		if s.Bare {
			c.every = 0
		}
		if apart > 0 {
			c.shift = sideways * (vg.Length(s.Method) - vg.Length(apart-1)/2)
		}
		seen := false
		for _, m := range s.Points {
			x := position(p.LogX, m.X-m.XError, m.X, m.X+m.XError)
			y := position(p.LogY, m.Y-m.YError, m.Y, m.Y+m.YError)
			seen = seen || finite(x[1], y[1])
			c.x, c.y = append(c.x, x[1]), append(c.y, y[1])
			c.xBars, c.yBars = append(c.xBars, [2]float64{x[0], x[2]}), append(c.yBars, [2]float64{y[0], y[2]})
		}
		if seen {
			out.curves = append(out.curves, c)
		}
	}
	out.y.low, out.y.high = span(out.curves, func(c curve, i int) [3]float64 { return [3]float64{c.y[i], c.yBars[i][0], c.yBars[i][1]} })
	if p.LogX {
		out.x.low, out.x.high = span(out.curves, func(c curve, i int) [3]float64 { return [3]float64{c.x[i], c.xBars[i][0], c.xBars[i][1]} })
	}
	return out
}

// position returns the positions of values on an axis: on a logarithmic one their decimal logarithms, or NaN for values
// without a logarithm or with ticks outside float64.
func position(log bool, values ...float64) []float64 {
	for i, v := range values {
		if log && v > 1e-150 && v < 1e150 {
			values[i] = math.Log10(v)
		} else if log {
			values[i] = math.NaN()
		}
	}
	return values
}

// end returns the largest x of all points, including missing ones: all panels of a figure have the same x axis, from 0.
func (p ComparisonPanel) end() float64 {
	end := 0.
	for _, s := range p.Series {
		for _, m := range s.Points {
			for _, x := range []float64{m.X, m.X + m.XError} {
				if finite(x) {
					end = math.Max(end, x)
				}
			}
		}
	}
	return end
}

// span returns the ends of an axis that holds points and their bars. They differ even for a single value.
func span(curves []curve, values func(c curve, i int) [3]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for i := range c.x {
			if !finite(c.x[i], c.y[i]) {
				continue
			}
			v := values(c, i)
			low, high = math.Min(low, v[0]), math.Max(high, v[0])
			if finite(v[1:]...) {
				low, high = math.Min(low, v[1]), math.Max(high, v[2])
			}
		}
	}
	if low > high {
		return 0, 1
	}
	if room := math.Max(math.Abs(low)*1e-3, 1e-3); high-low < room {
		low, high = low-room, high+room
	}
	return low, high
}
