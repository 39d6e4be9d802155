package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Comparison shows the results of several methods, each by one or more accountings, in panels of a grid. Markers and
// colours distinguish methods, dashes distinguish accountings. Points are means, and each run may be a faint dot.
type Comparison struct {
	Methods     []string          // at most four; one without a name isn't in the key
	Accountings []string          // at most three
	Columns     int               // of panels, at least one
	Small       bool              // panels, for a grid of three or more columns
	Apart       int               // so many methods, the first ones, are drawn beside each other; others at their x
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

// Mean is a point of a [Series]. Values that aren't finite are missing, and so are values not above 0 on a logarithmic
// axis.
type Mean struct {
	X    float64
	Y    float64   // NaN for a missing point, which leaves a gap
	Half float64   // of the bar; 0 or NaN for none
	Runs []float64 // are drawn as dots, and the median as a dash behind the point, which hides it unless they part
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
		out := p.panel(c.Apart)
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
	sideways    = 3.4
)

// panel draws the first methods beside each other, as many as apart.
func (p ComparisonPanel) panel(apart int) panel {
	out := panel{title: p.Title, note: p.Note, empty: "no values", x: axis{label: p.X, log: p.LogX}, y: axis{label: p.Y, log: p.LogY}}
	for _, s := range p.Series {
		c := curve{stroke: strokes[s.Accounting], marker: markers[s.Method], every: 1 + len(s.Points)/40, label: s.Label}
		if s.Bare {
			c.every = 0
		}
		if s.Method < apart {
			c.shift = sideways * (vg.Length(s.Method) - vg.Length(apart-1)/2)
		}
		seen := false
		for _, m := range s.Points {
			x, y := position(p.LogX, m.X)[0], position(p.LogY, m.Y-m.Half, m.Y, m.Y+m.Half)
			seen = seen || finite(x, y[1])
			c.x, c.y, c.bars = append(c.x, x), append(c.y, y[1]), append(c.bars, [2]float64{y[0], y[2]})
			for _, v := range position(p.LogY, slices.Clone(m.Runs)...) {
				if finite(x, v) {
					c.runs = append(c.runs, plotter.XY{X: x, Y: v})
				}
			}
			if v := position(p.LogY, median(m.Runs))[0]; finite(x, v) {
				c.medians = append(c.medians, plotter.XY{X: x, Y: v})
			}
		}
		if seen {
			out.curves = append(out.curves, c)
		}
	}
	var x, y []float64
	for _, c := range out.curves {
		for i := range c.x {
			if finite(c.x[i], c.y[i]) {
				x, y = append(x, c.x[i]), append(y, c.y[i])
				if drawn(c.bars[i]) {
					y = append(y, c.bars[i][:]...)
				}
			}
		}
		for _, run := range c.runs {
			y = append(y, run.Y)
		}
	}
	out.y.low, out.y.high = span(y)
	if p.LogX {
		out.x.low, out.x.high = span(x)
	}
	return out
}

// median returns NaN for fewer than three values, which show all there is, and if one is NaN.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values)) // NaN first
	n := len(sorted)
	if n < 3 || math.IsNaN(sorted[0]) {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
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
			if finite(m.X) {
				end = math.Max(end, m.X)
			}
		}
	}
	return end
}

// span returns the ends of an axis that holds values. They differ even for a single value.
func span(values []float64) (low, high float64) {
	if len(values) == 0 {
		return 0, 1
	}
	low, high = slices.Min(values), slices.Max(values)
	if room := math.Max(math.Abs(low)*1e-3, 1e-3); high-low < room {
		low, high = low-room, high+room
	}
	return low, high
}
