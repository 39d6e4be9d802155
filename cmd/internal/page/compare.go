package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/show"
	"github.com/dptrain/dptrain/train"
)

// comparison is the beginning of a page of several runs.
type comparison struct {
	Rows    []comparedRun
	Totals  []string
	Figures []chart
}

type comparedRun struct {
	Number                              int
	ID, Name, Data, Model, Method       string
	Epsilon, Delta, Score, LearningRate string
	Noise, Steps                        string
	Void                                bool
}

func compare(runs []Run) *comparison {
	c := &comparison{Totals: totals(runs)}
	for i, r := range runs {
		p, h := r.Privacy, r.Hyperparameters
		row := comparedRun{
			Number: i + 1, ID: runID(i), Name: r.Name, Data: dataText(r.Model), Model: r.Model.Network, Method: "one run, no tuning",
			Epsilon: release.Up(p.Epsilon), Delta: exact(p.Delta), Score: scoreText(r.Score), Void: r.Void,
			LearningRate: short(h.LearningRate), Noise: release.RoundUp(h.NoiseMultiplier, 4), Steps: release.Grouped(h.Steps),
		}
		if p.Tuning != nil {
			row.Method = p.Tuning.Method
		}
		c.Rows = append(c.Rows, row)
	}
	for _, metric := range release.Metrics() {
		if f := scores(runs, metric); f != nil {
			c.Figures = append(c.Figures, *f)
		}
	}
	return c
}

func scoreText(s *release.Score) string {
	if s == nil {
		return "none"
	}
	return minus(s.String())
}

// totals states the total cost of runs on the same data: guarantees of adaptive runs add up.
func totals(runs []Run) []string {
	type group struct {
		data           string
		n, count       int
		epsilon, delta float64
		void           bool
	}
	var groups []*group
	for _, r := range runs {
		data := dataText(r.Model)
		same := func(g *group) bool { return g.data == data && g.n == r.Privacy.Samples }
		at := slices.IndexFunc(groups, same)
		if at < 0 {
			groups = append(groups, &group{data: data, n: r.Privacy.Samples})
			at = len(groups) - 1
		}
		g := groups[at]
		g.count++
		g.epsilon = math.Nextafter(g.epsilon+r.Privacy.Epsilon, math.Inf(1))
		g.delta += r.Privacy.Delta
		g.void = g.void || r.Void
	}
	var out []string
	for _, g := range groups {
		switch {
		case g.count < 2:
			continue
		case g.void:
			out = append(out, fmt.Sprintf("%s: no guarantee holds for the %d runs together, because a seed was insecure", g.data, g.count))
		default:
			out = append(out, fmt.Sprintf("%s, %s samples: if its %d runs were trained on the same samples, they cost at most ε = %s at δ = %s together",
				g.data, release.Grouped(g.n), g.count, release.Up(g.epsilon), rounded(math.Min(1, g.delta))))
		}
	}
	files := 0
	for _, g := range groups {
		if g.data == ownFiles {
			files++
		}
	}
	if files > 1 {
		out = append(out, ownFiles+": runs with different numbers of samples add up too, if their files have samples in common")
	}
	return out
}

// scores returns the chart of the scores of one metric over epsilon, with a marker for each data set; nil for fewer
// than two runs.
func scores(runs []Run, metric train.Metric) *chart {
	panel := figure.ComparisonPanel{Title: "Scores over epsilon", X: "epsilon", Y: scoreLabel(metric)}
	c := &chart{Caption: "Scores of the released models. Each number is a run of the table." + leftOut(metric), Columns: []string{"run", "epsilon", "score"}}
	var data []string
	for i, r := range runs {
		if r.Score == nil || r.Score.Metric != metric {
			continue
		}
		set := slices.Index(data, dataText(r.Model))
		if set < 0 {
			set = len(data)
			data = append(data, dataText(r.Model))
		}
		s := at(min(set, 3), r.Privacy.Epsilon, drawn(metric, &r.Score.Value))
		s.Label = strconv.Itoa(i + 1)
		panel.Series = append(panel.Series, s)
		c.Rows = append(c.Rows, []string{s.Label, exact(r.Privacy.Epsilon), scoreText(r.Score)})
	}
	if len(c.Rows) < 2 {
		return nil
	}
	if len(data) > 4 {
		data = append(data[:3], "other data")
	}
	for i, name := range data {
		data[i] = show.Printable(shortened(name, 40))
	}
	c.draw(panel, data, "")
	return c
}

func runID(i int) string { return "run" + strconv.Itoa(i+1) }
