package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
)

// Scores shows the trials of tuning runs: the score of each over its learning rate, the winner, and the final run. Each
// run has a panel. What it shows is private.
type Scores struct {
	metric string
	runs   []RunScores
}

// RunScores are the scores of a run.
type RunScores struct {
	Name   string
	Trials []Trial // those with a score
	Winner int     // index into Trials; -1 for none
	Final  Trial
}

// Trial is the outcome of a trial or of the final run.
type Trial struct {
	LearningRate float64
	Score        float64
}

// maxPanels is the number of panels that are still readable side by side.
const maxPanels = 6

// NewScores returns a figure of runs with scores in a metric. The error wraps [accountant.ErrInvalid] if there are none
// or too many.
func NewScores(metric string, runs []RunScores) (Scores, error) {
	if len(runs) < 1 || len(runs) > maxPanels {
		return Scores{}, fmt.Errorf("%w figure: %d runs; give 1 to %d, which are drawn side by side", accountant.ErrInvalid, len(runs), maxPanels)
	}
	for _, r := range runs {
		for _, t := range append([]Trial{r.Final}, r.Trials...) {
			if !(t.LearningRate > 0) || math.IsInf(t.LearningRate, 1) || math.IsNaN(t.Score) || math.IsInf(t.Score, 0) {
				return Scores{}, fmt.Errorf("%w figure: run %s has score %v at learning rate %v", accountant.ErrInvalid, r.Name, t.Score, t.LearningRate)
			}
		}
	}
	return Scores{metric, runs}, nil
}

// Table returns a row for each trial and each final run.
func (s Scores) Table() [][]string {
	rows := [][]string{{"run", "what", "learning_rate", "score"}}
	for _, r := range s.runs {
		for k, t := range r.Trials {
			what := "trial"
			if k == r.Winner {
				what = "winner"
			}
			rows = append(rows, append([]string{r.Name, what}, numbers(t.LearningRate, t.Score)...))
		}
		rows = append(rows, append([]string{r.Name, "final"}, numbers(r.Final.LearningRate, r.Final.Score)...))
	}
	return rows
}

func (s Scores) drawing() drawing {
	var d drawing
	names := []string{"trial", "winner", "final run"}
	x, y := axis{label: "log10 of the learning rate"}, axis{label: s.metric}
	if len(s.runs) > 1 { // equal axes, so that panels compare
		var rates, scores []float64
		for _, r := range s.runs {
			for _, t := range append([]Trial{r.Final}, r.Trials...) {
				rates, scores = append(rates, math.Log10(t.LearningRate)), append(scores, t.Score)
			}
		}
		x.low, x.high = slices.Min(rates), slices.Max(rates)
		y.low, y.high = slices.Min(scores), slices.Max(scores)
	}
	for _, r := range s.runs {
		p := panel{title: r.Name, x: x, y: y}
		curves := make([]curve, len(names))
		for k := range curves {
			// No line: the order of trials means nothing.
			curves[k] = curve{stroke: stroke{}, marker: markers[k], every: 1}
		}
		add := func(k int, t Trial) {
			curves[k].x, curves[k].y = append(curves[k].x, math.Log10(t.LearningRate)), append(curves[k].y, t.Score)
		}
		for k, t := range r.Trials {
			if k == r.Winner {
				add(1, t)
			} else {
				add(0, t)
			}
		}
		add(2, r.Final)
		for _, c := range curves {
			if len(c.x) > 0 {
				p.curves = append(p.curves, c)
			}
		}
		d.panels = append(d.panels, p)
	}
	var key []keyEntry
	for k, name := range names {
		key = append(key, keyEntry{name, stroke{}, markers[k]})
	}
	d.key = [][]keyEntry{key}
	return d
}
