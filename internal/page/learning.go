package page

import (
	"strconv"

	"github.com/dptrain/dptrain/internal/figure"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// The methods of charts of trials: the final run stands out, and trials are grey.
const (
	winner = iota
	finalRun
	_
	trial
)

var runNames = []string{"winner", "final run", "", "trial"}

// scores returns the chart of the trials' scores over their learning rates.
func (p *PrivateRun) scores(r Run, metric train.Metric) chart {
	panel := figure.ComparisonPanel{Title: "Scores of the trials", X: "learning rate", Y: scoreLabel(metric), LogX: true}
	for i, t := range p.Trials {
		if i != p.best() {
			panel.Series = append(panel.Series, at(trial, t.LearningRate, drawn(metric, t.Score)))
		}
	}
	if b := p.best(); b >= 0 { // on top of the others
		panel.Series = append(panel.Series, at(winner, p.Trials[b].LearningRate, drawn(metric, p.Trials[b].Score)))
	}
	if r.Score != nil && r.Privacy.Tuning.Method != "baseline" {
		panel.Series = append(panel.Series, at(finalRun, r.Hyperparameters.LearningRate, drawn(metric, &r.Score.Value)))
	}
	c := chart{Caption: "Trials, the winner, and the final run on more data. The table of trials has the numbers." + leftOut}
	c.draw(panel, runNames, "")
	return c
}

// learning returns the chart of the released learning curve; nil if there is none.
func (r Run) learning() *chart {
	if r.Curve == nil || r.Score == nil {
		return nil
	}
	f, err := r.Curve.Figure(r.Score.Metric)
	if err != nil { // of a curve that was read
		return nil
	}
	c := &chart{
		Title:   "Learning curve",
		Caption: "Score on the public test set after some of the steps. The guarantee covers the model after each of them." + leftOut,
		Columns: []string{"steps", "score"},
	}
	if r.Curve.Epsilons != nil {
		c.Columns = append(c.Columns, "epsilon so far")
	}
	for i, p := range r.Curve.Points {
		row := []string{report.Grouped(p.Step), scoreText(&report.Score{Metric: r.Score.Metric, Value: p.Score})}
		if r.Curve.Epsilons != nil {
			row = append(row, report.Up(r.Curve.Epsilons[i]))
		}
		c.Rows = append(c.Rows, row)
	}
	c.show(f)
	return c
}

// maxCurves is the maximum number of learning curves in a chart, besides the winner's and the final run's.
const maxCurves = 300

// curves returns the chart of learning curves. It returns false if no run has one.
func (p *PrivateRun) curves(metric train.Metric) (chart, bool) {
	panel := figure.ComparisonPanel{Title: "Learning curves", X: "steps", Y: scoreLabel(metric)}
	c := chart{
		Caption: "Score on the public test set while training: each grey line is a trial." + leftOut,
		Columns: []string{"run", "steps", "score"},
	}
	add := func(points []PrivatePoint, method int, who string) {
		s := figure.Series{Method: method, Bare: method == trial}
		var last []string
		for _, at := range points {
			if at.Score == nil {
				continue
			}
			s.Points = append(s.Points, figure.Mean{X: float64(at.Step), Y: drawn(metric, at.Score)})
			last = []string{who, report.Grouped(at.Step), scoreText(&report.Score{Metric: metric, Value: *at.Score})}
		}
		if last != nil {
			panel.Series, c.Rows = append(panel.Series, s), append(c.Rows, last)
		}
	}
	for i, t := range p.Trials {
		if i != p.best() && i < maxCurves {
			add(t.Curve, trial, "trial "+strconv.Itoa(i+1))
		}
	}
	if b := p.best(); b >= 0 {
		add(p.Trials[b].Curve, winner, "winner")
	}
	add(p.FinalCurve, finalRun, "final run")
	if len(c.Rows) == 0 {
		return c, false
	}
	c.draw(panel, runNames, "")
	return c, true
}
