package page

import (
	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/release"
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
		if i != p.Best {
			panel.Series = append(panel.Series, at(trial, t.LearningRate, drawn(metric, t.Score)))
		}
	}
	if b := p.Best; b >= 0 { // on top of the others
		panel.Series = append(panel.Series, at(winner, p.Trials[b].LearningRate, drawn(metric, p.Trials[b].Score)))
	}
	if r.Score != nil && r.Privacy.Tuning.Method != "baseline" {
		panel.Series = append(panel.Series, at(finalRun, r.Hyperparameters.LearningRate, drawn(metric, &r.Score.Value)))
	}
	c := chart{Caption: "Trials, the winner, and the final run on more data. The table of trials has the numbers." + leftOut(metric)}
	c.draw(panel, runNames, "")
	return c
}

// learning returns the chart of the released learning curve; nil if there is none.
func (r Run) learning() *chart {
	if r.Curve == nil || r.Score == nil {
		return nil
	}
	c := &chart{
		Title:   "Learning curve",
		Caption: "Score on the public test set after some of the steps. The guarantee covers the model after each of them." + leftOut(r.Score.Metric),
		Columns: []string{"steps", "score"},
	}
	if r.Curve.Epsilons != nil {
		c.Columns = append(c.Columns, "epsilon so far")
	}
	for i, p := range r.Curve.Points {
		row := []string{release.Grouped(p.Step), scoreText(&release.Score{Metric: r.Score.Metric, Value: p.Score})}
		if r.Curve.Epsilons != nil {
			row = append(row, release.Up(r.Curve.Epsilons[i]))
		}
		c.Rows = append(c.Rows, row)
	}
	c.show(r.Curve.Figure(r.Score.Metric))
	return c
}
