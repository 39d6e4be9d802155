package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/dptrain/dptrain/accountant"
)

// Comparison shows what several methods reach, each by one or more accountings, in panels of a grid. Markers and
// colours tell methods apart, dashes accountings. Points are means; their error bars are standard errors.
type Comparison struct {
	Methods     []string // at most four
	Accountings []string // at most three
	Columns     int      // of panels
	Small       bool     // panels, for a grid of three or more columns
	Panels      []ComparisonPanel
	Numbers     [][]string // of the CSV file: a row of column names, and below it the numbers
}

// ComparisonPanel is a panel of a [Comparison].
type ComparisonPanel struct {
	Title  string
	Note   string // below the title; may be empty
	X, Y   string // labels of the axes
	LogY   bool   // y axis is logarithmic, and points at or below 0 aren't drawn
	Series []Series
}

// Series are the points of a method by an accounting, which are joined in their order.
type Series struct {
	Method, Accounting int // indices
	Points             []Mean
}

// Mean is a point of a [Series]. A standard error of 0 or NaN has no bar.
type Mean struct {
	X, XError float64
	Y, YError float64 // Y is NaN for a point that is missing, which leaves a gap
}

// NewComparison returns c, or an error that wraps [accountant.ErrInvalid] if it can't be drawn.
func NewComparison(c Comparison) (Comparison, error) {
	if len(c.Panels) == 0 || c.Columns < 1 {
		return c, fmt.Errorf("%w figure: %d panels in %d columns", accountant.ErrInvalid, len(c.Panels), c.Columns)
	}
	if len(c.Methods) > len(markers) || len(c.Accountings) > len(strokes) {
		return c, fmt.Errorf("%w figure: %d methods by %d accountings; no more than %d by %d can be told apart",
			accountant.ErrInvalid, len(c.Methods), len(c.Accountings), len(markers), len(strokes))
	}
	for _, p := range c.Panels {
		for _, s := range p.Series {
			if s.Method < 0 || s.Method >= len(c.Methods) || s.Accounting < 0 || s.Accounting >= len(c.Accountings) {
				return c, fmt.Errorf("%w figure: panel %q has method %d by accounting %d", accountant.ErrInvalid, p.Title, s.Method, s.Accounting)
			}
			for _, m := range s.Points {
				if !finite(m.X) || math.IsInf(m.Y, 0) {
					return c, fmt.Errorf("%w figure: panel %q has a point at %v, %v", accountant.ErrInvalid, p.Title, m.X, m.Y)
				}
			}
		}
	}
	return c, nil
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
	if end == 0 {
		end = 1 // without a point
	}
	noted := slices.ContainsFunc(c.Panels, func(p ComparisonPanel) bool { return p.Note != "" })
	for _, p := range c.Panels {
		out := p.panel(len(c.Methods))
		out.x.high = end
		if noted && out.note == "" {
			out.note = " " // titles beside each other are at one height
		}
		d.panels = append(d.panels, out)
	}
	var byMethod, byAccounting []keyEntry
	for i, name := range c.Methods {
		byMethod = append(byMethod, keyEntry{name, strokes[0], markers[i]})
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

func (p ComparisonPanel) panel(methods int) panel {
	out := panel{title: p.Title, note: p.Note, empty: "no finished runs", x: axis{label: p.X}, y: axis{label: p.Y, log: p.LogY}}
	for _, s := range p.Series {
		c := curve{stroke: strokes[s.Accounting], marker: markers[s.Method], every: 1}
		c.shift = sideways * (vg.Length(s.Method) - vg.Length(methods-1)/2)
		seen := false
		for _, m := range s.Points {
			y, bar := m.Y, [2]float64{m.Y - m.YError, m.Y + m.YError}
			if p.LogY {
				y, bar = logarithm(y), [2]float64{logarithm(bar[0]), logarithm(bar[1])}
			}
			seen = seen || finite(m.X, y)
			c.x, c.y = append(c.x, m.X), append(c.y, y)
			c.xBars, c.yBars = append(c.xBars, [2]float64{m.X - m.XError, m.X + m.XError}), append(c.yBars, bar)
		}
		if seen {
			out.curves = append(out.curves, c)
		}
	}
	out.y.low, out.y.high = span(out.curves)
	return out
}

// logarithm returns the decimal logarithm, or NaN of a number that has none.
func logarithm(v float64) float64 {
	if !(v > 0) {
		return math.NaN()
	}
	return math.Log10(v)
}

// end returns the largest x of all points, missing ones too: all panels of a figure have the same x axis, from 0.
func (p ComparisonPanel) end() float64 {
	end := 0.
	for _, s := range p.Series {
		for _, m := range s.Points {
			end = math.Max(end, m.X)
			if finite(m.XError) {
				end = math.Max(end, m.X+m.XError)
			}
		}
	}
	return end
}

// span returns the ends of a y axis that holds points and bars, apart even if there is one value alone.
func span(curves []curve) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for i, y := range c.y {
			if !finite(c.x[i], y) {
				continue
			}
			low, high = math.Min(low, y), math.Max(high, y)
			if bar := c.yBars[i]; finite(bar[0], bar[1]) {
				low, high = math.Min(low, bar[0]), math.Max(high, bar[1])
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
