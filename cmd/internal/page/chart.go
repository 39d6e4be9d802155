package page

import (
	"fmt"
	"html/template"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
)

// chart is a picture with its caption and its numbers.
type chart struct {
	Key, Picture template.HTML
	Title        string
	Caption      string
	Columns      []string
	Rows         [][]string
}

// draw draws the picture of one panel, given the methods and accountings of its series.
func (c *chart) draw(p figure.ComparisonPanel, methods []string, accountings ...string) {
	c.Title = p.Title
	c.show(figure.Comparison{Methods: methods, Accountings: accountings, Columns: 1, Panels: []figure.ComparisonPanel{p}})
}

func (c *chart) show(f figure.Figure) {
	key, panels := figure.Inline(f)
	c.Key, c.Picture = key, panels[0]
}

// at returns a series of one point.
func at(method int, x, y float64) figure.Series {
	return figure.Series{Method: method, Points: []figure.Mean{{X: x, Y: y}}}
}

// charts returns the charts of a run's costs.
func (a Accounting) charts(r Run) []chart {
	if a.Missing != "" {
		return nil
	}
	p := r.Privacy
	epsilon := "epsilon at delta = " + exact(p.Delta)
	out := []chart{costs{
		costs: a.ByDelta, panel: figure.ComparisonPanel{Title: "Epsilon over delta", X: "delta", Y: "epsilon", LogX: true}, at: p.Delta, value: p.Epsilon,
		caption: "What the run guarantees at other values of δ, computed at 1 and 3 times each power of ten.",
	}.chart()}
	switch {
	case len(a.BySteps) > 0 && a.Steps > 0:
		out = append(out, costs{
			costs: a.BySteps, panel: figure.ComparisonPanel{Title: "Epsilon over steps", X: "steps of each run", Y: epsilon}, at: float64(a.Steps), value: p.Epsilon,
			caption: "What the same plan would cost with more or fewer steps in each run.",
		}.chart())
	case len(a.BySteps) > 0:
		out = append(out, costs{
			costs: a.BySteps, panel: figure.ComparisonPanel{Title: "Epsilon over steps", X: "steps of each run, as a share of the plan's", Y: epsilon}, at: 1, value: p.Epsilon,
			caption: "What the same plan would cost if each run had this share of its steps.",
		}.chart())
	case len(a.ByEpsilon) > 0:
		out = append(out, costs{
			costs: a.ByEpsilon, panel: figure.ComparisonPanel{Title: "Delta over epsilon", X: "epsilon", Y: "delta", LogY: true}, at: p.Epsilon, value: p.Delta,
			caption: "The same guarantee, as δ over ε.",
		}.chart())
	}
	return out
}

// costs is a chart of costs by all modes of accounting.
type costs struct {
	panel     figure.ComparisonPanel
	caption   string
	costs     []Cost
	at, value float64 // the stated guarantee
}

func (f costs) chart() chart {
	c := chart{Caption: f.caption, Columns: []string{f.panel.X}}
	var accountings []string
	for m, mode := range modes {
		accountings = append(accountings, string(mode))
		s := figure.Series{Accounting: m, Bare: true}
		for _, cost := range f.costs {
			s.Points = append(s.Points, figure.Mean{X: cost.X, Y: cost.Y[m]})
		}
		f.panel.Series = append([]figure.Series{s}, f.panel.Series...) // the smallest bound is drawn on top
	}
	f.panel.Series = append(f.panel.Series, at(1, f.at, f.value))
	c.Columns = append(c.Columns, accountings...)
	for _, cost := range f.costs {
		row := []string{exact(cost.X)}
		if f.panel.LogY { // epsilons: a bound on delta also holds at a rounded-up epsilon
			row[0] = release.Up(cost.X)
		}
		for _, v := range cost.Y {
			switch {
			case math.IsInf(v, 1):
				row = append(row, "none")
			case f.panel.LogY:
				row = append(row, rounded(v))
			default:
				row = append(row, release.Up(v))
			}
		}
		c.Rows = append(c.Rows, row)
	}
	c.draw(f.panel, []string{"", "stated guarantee"}, accountings...)
	return c
}

// drawn returns a score for charts: accuracy in per cent, and NaN for a score that is missing or too small to draw.
func drawn(metric train.Metric, score *float64) float64 {
	switch {
	case score == nil || *score < figure.WorstDrawn:
		return math.NaN()
	case metric == train.Accuracy:
		return 100 * *score
	}
	return *score
}

// scoreLabel is the label of an axis of scores.
func scoreLabel(metric train.Metric) string {
	switch metric {
	case train.Accuracy:
		return string(metric) + " (%)"
	case "":
		return "score"
	}
	return string(metric)
}

// leftOut returns a sentence about the scores that a chart leaves out.
func leftOut(metric train.Metric) string {
	if metric == train.Accuracy {
		return ""
	}
	return fmt.Sprintf(" Scores below %s aren’t drawn.", short(figure.WorstDrawn))
}
