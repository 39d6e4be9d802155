package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// figure is a chart with its caption and its numbers.
type figure struct {
	Chart   drawn
	Caption string
	Columns []string
	Rows    [][]string
}

// figures returns the charts of a run's costs.
func (a Accounting) figures(r Run, id string) []figure {
	if a.Missing != "" {
		return nil
	}
	p := r.Privacy
	out := []figure{costFigure{
		id: id + "-delta", costs: a.ByDelta, x: "*δ*", y: "*ε*", log: true, at: p.Delta, value: p.Epsilon,
		title:   "Epsilon over delta",
		caption: "What the run guarantees at other values of δ, computed at 1 and 3 times each power of ten. A dot marks the stated guarantee.",
	}.figure(p)}
	switch {
	case len(a.BySteps) > 0 && a.Steps > 0:
		out = append(out, costFigure{
			id: id + "-steps", costs: a.BySteps, x: "steps of each run", y: "*ε* at *δ* = " + exact(p.Delta), at: float64(a.Steps), value: p.Epsilon,
			title:   "Epsilon over steps",
			caption: "What the same plan would cost with more or fewer steps in each run. A dot marks the plan.",
		}.figure(p))
	case len(a.BySteps) > 0:
		out = append(out, costFigure{
			id: id + "-steps", costs: a.BySteps, x: "steps of each run, as a share of the plan's", y: "*ε* at *δ* = " + exact(p.Delta), at: 1, value: p.Epsilon,
			title:   "Epsilon over steps",
			caption: "What the same plan would cost if each run had this share of its steps. A dot marks the plan.",
		}.figure(p))
	case len(a.ByEpsilon) > 0:
		out = append(out, costFigure{
			id: id + "-epsilon", costs: a.ByEpsilon, x: "*ε*", y: "*δ*", logY: true, at: p.Epsilon, value: p.Delta,
			title:   "Delta over epsilon",
			caption: "The same guarantee, as δ over ε. A dot marks the stated one.",
		}.figure(p))
	}
	return out
}

// costFigure is a chart of costs by all modes of accounting.
type costFigure struct {
	id, title, caption string
	costs              []Cost
	x, y               string
	log, logY          bool
	at, value          float64 // the stated guarantee
}

func (f costFigure) figure(p report.Privacy) figure {
	xs, ys := []float64{f.at}, []float64{f.value}
	for _, c := range f.costs {
		xs = append(xs, c.X)
		ys = append(ys, c.Y[:]...)
	}
	if !f.logY {
		ys = append(ys, 0)
	}
	c := chart{
		ID: f.id, Title: f.title, x: newAxis(f.x, f.log, xs...), y: newAxis(f.y, f.logY, ys...),
		dots: []dot{{f.at, f.value, f.marker(p), "", "here", "circle"}},
	}
	var told []string
	for m := len(modes) - 1; m >= 0; m-- { // the smallest bound is drawn on top
		k := curve{class: string(modes[m])}
		names := []string{string(modes[m])}
		if f.sameBefore(m) {
			continue
		}
		for other := m + 1; other < len(modes); other++ {
			if f.same(m, other) {
				names = append(names, string(modes[other]))
			}
		}
		k.name = strings.Join(names, ", ")
		for _, cost := range f.costs {
			k.x, k.y = append(k.x, cost.X), append(k.y, cost.Y[m])
		}
		c.curves = append(c.curves, k)
		first, last := k.y[0], k.y[len(k.y)-1]
		told = append(told, fmt.Sprintf("%s accounting from %s to %s", k.name, short(first), short(last)))
	}
	c.Description = strings.ReplaceAll(fmt.Sprintf("%s over %s from %s to %s: %s. The stated guarantee is at %s, %s.",
		f.y, f.x, short(f.costs[0].X), short(f.costs[len(f.costs)-1].X), strings.Join(told, "; "), exact(f.at), short(f.value)), "*", "")
	out := figure{Chart: c.draw(), Caption: f.caption, Columns: []string{strings.ReplaceAll(f.x, "*", "")}}
	for _, m := range modes {
		out.Columns = append(out.Columns, string(m))
	}
	for _, cost := range f.costs {
		row := []string{exact(cost.X)}
		if f.logY && !f.log { // epsilons: rounded up, a bound on delta holds all the more
			row[0] = report.Up(cost.X)
		}
		for _, v := range cost.Y {
			row = append(row, f.valueText(v))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// marker names the stated guarantee.
func (f costFigure) marker(p report.Privacy) string {
	return "*ε* = " + report.Up(p.Epsilon) + ", *δ* = " + exact(p.Delta)
}

// valueText prints a bound, rounded up.
func (f costFigure) valueText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "none"
	case f.logY:
		return rounded(v)
	}
	return report.Up(v)
}

// same reports whether two modes have the same bounds, to four digits.
func (f costFigure) same(m, other int) bool {
	for _, c := range f.costs {
		a, b := c.Y[m], c.Y[other]
		if a != b && !(math.Abs(a-b) <= 1e-4*math.Abs(a)) {
			return false
		}
	}
	return true
}

// sameBefore reports whether a mode with a smaller bound has the same curve.
func (f costFigure) sameBefore(m int) bool {
	for other := range m {
		if f.same(other, m) {
			return true
		}
	}
	return false
}

// rounded prints three digits of a positive number, rounded up. What its float64 may have by rounding doesn't count.
func rounded(v float64) string {
	if v <= 0 || math.IsInf(v, 1) {
		return short(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit == 0 {
		return short(v)
	}
	return short(math.Ceil(v/unit*(1-1e-12)) * unit)
}

// scoreAxis returns an axis of scores. An R² far below 0 would take the axis for itself: such an axis ends at -1.
func scoreAxis(metric train.Metric, scores []float64) axis {
	if metric != train.Accuracy {
		scores = slices.Clone(scores)
		for i, s := range scores {
			scores[i] = math.Max(s, -1)
		}
	}
	a := newAxis(metricText(metric), false, scores...)
	if a.percent = metric == train.Accuracy; a.percent {
		a.low, a.high = math.Max(a.low, 0), math.Min(a.high, 1)
		a.ticks = slices.DeleteFunc(a.ticks, func(t tick) bool { return t.value < a.low-1e-9 || t.value > a.high+1e-9 })
	}
	return a
}

func metricText(m train.Metric) string {
	if m == "" {
		return "score"
	}
	return string(m)
}

// scoreDot returns a dot for a score, at the lower end of the axis if it is below or missing.
func scoreDot(a axis, x float64, score *float64, d dot) dot {
	d.x = x
	switch {
	case score == nil:
		d.y, d.shape = a.low, "cross"
	case *score < a.low:
		d.y, d.shape = a.low, "down"
	default:
		d.y = *score
	}
	return d
}
