package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/internal/page/sheet"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// comparison is what a page of several runs begins with.
type comparison struct {
	Rows    []comparedRun
	Totals  []string
	Figures []figure
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
			Epsilon: report.Up(p.Epsilon), Delta: exact(p.Delta), Score: scoreText(r.Score), Void: r.Void,
			LearningRate: short(h.LearningRate), Noise: report.RoundUp(h.NoiseMultiplier, 4), Steps: report.Grouped(h.Steps),
		}
		if p.Tuning != nil {
			row.Method = p.Tuning.Method
		}
		c.Rows = append(c.Rows, row)
	}
	for _, metric := range []train.Metric{train.Accuracy, train.R2} {
		c.Figures = append(c.Figures, scoreFigures(runs, metric)...)
	}
	return c
}

func scoreText(s *report.Score) string {
	if s == nil {
		return "unknown"
	}
	if s.Value < -1e4 { // a regression that diverged
		return short(s.Value)
	}
	return minus(s.String())
}

// totals states what runs on the same data cost together: guarantees of adaptive runs add up.
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
				g.data, report.Grouped(g.n), g.count, report.Up(g.epsilon), rounded(math.Min(1, g.delta))))
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

// scoreFigures returns the scores of one metric, over epsilon and over the learning rate.
func scoreFigures(runs []Run, metric train.Metric) []figure {
	var scores []float64
	var data []string // data sets, each with a shape of its own
	for _, r := range runs {
		if r.Score != nil && r.Score.Metric == metric {
			scores = append(scores, r.Score.Value)
			if !slices.Contains(data, r.Model.Dataset) {
				data = append(data, r.Model.Dataset)
			}
		}
	}
	if len(scores) < 2 {
		return nil
	}
	label, y := metricText(metric), scoreAxis(metric, scores)
	ids := map[train.Metric]string{train.Accuracy: "accuracy", train.R2: "r2"}
	var out []figure
	for _, over := range []struct {
		id, label, title string
		log              bool
		value            func(Run) float64
	}{
		{"-epsilon", "*ε*", "over epsilon", false, func(r Run) float64 { return r.Privacy.Epsilon }},
		{"-rate", "learning rate of the released run", "over learning rate", true, func(r Run) float64 { return r.Hyperparameters.LearningRate }},
	} {
		f := figure{
			Caption: fmt.Sprintf("Scores of the released models, %s. Each number is a run of the table.", over.title),
			Columns: []string{"run", over.title[len("over "):], label},
		}
		if len(data) > 1 {
			f.Caption += " Each data set has a shape of its own."
		}
		var xs []float64
		c := chart{ID: ids[metric] + over.id, Title: label + " " + over.title, y: y}
		for i, r := range runs {
			if r.Score == nil || r.Score.Metric != metric {
				continue
			}
			x := over.value(r)
			xs = append(xs, x)
			shape := []string{"circle", "square", "diamond", "triangle"}[slices.Index(data, r.Model.Dataset)%4]
			class := "best"
			if r.Void {
				class = "void"
			}
			c.dots = append(c.dots, scoreDot(y, x, &r.Score.Value, dot{
				name: strconv.Itoa(i + 1), class: class, shape: shape,
				title: fmt.Sprintf("%s: %s, %s", sheet.Plain(r.Name), short(x), scoreText(r.Score)),
			}))
			f.Rows = append(f.Rows, []string{strconv.Itoa(i + 1), exact(x), scoreText(r.Score)})
		}
		if !over.log {
			xs = append(xs, 0)
		}
		c.x = newAxis(over.label, over.log, xs...)
		c.Description = fmt.Sprintf("%d runs; the table below has their numbers.", len(c.dots))
		f.Chart = c.draw()
		out = append(out, f)
	}
	return out
}

func runID(i int) string { return "run" + strconv.Itoa(i+1) }
