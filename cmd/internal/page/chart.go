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

// chart returns the chart of a run's costs, with its stated guarantee; nil without curves.
func (a Accounting) chart(p release.Privacy) *chart {
	if a.Missing != "" {
		return nil
	}
	c := chart{Caption: "What the run guarantees at other values of δ, computed at 1 and 3 times each power of ten.", Columns: []string{"delta"}}
	panel := figure.ComparisonPanel{Title: "Epsilon over delta", X: "delta", Y: "epsilon", LogX: true}
	var accountings []string
	for m, mode := range modes {
		accountings = append(accountings, string(mode))
		s := figure.Series{Accounting: m, Bare: true}
		for _, cost := range a.ByDelta {
			s.Points = append(s.Points, figure.Mean{X: cost.Delta, Y: cost.Epsilon[m]})
		}
		panel.Series = append([]figure.Series{s}, panel.Series...) // the smallest bound is drawn on top
	}
	panel.Series = append(panel.Series, at(1, p.Delta, p.Epsilon))
	c.Columns = append(c.Columns, accountings...)
	for _, cost := range a.ByDelta {
		row := []string{exact(cost.Delta)}
		for _, v := range cost.Epsilon {
			if math.IsInf(v, 1) {
				row = append(row, "none")
			} else {
				row = append(row, release.Up(v))
			}
		}
		c.Rows = append(c.Rows, row)
	}
	c.draw(panel, []string{"", "stated guarantee"}, accountings...)
	return &c
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
