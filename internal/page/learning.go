package page

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/page/sheet"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// scores returns the chart of the trials' scores over their learning rates.
func (p *PrivateRun) scores(r Run, metric train.Metric, id string) figure {
	var xs, ys []float64
	for _, t := range p.Trials {
		xs = append(xs, t.LearningRate)
		if t.Score != nil {
			ys = append(ys, *t.Score)
		}
	}
	released := r.Score != nil && r.Privacy.Tuning.Method != "baseline"
	if released {
		xs, ys = append(xs, r.Hyperparameters.LearningRate), append(ys, r.Score.Value)
	}
	y := scoreAxis(metric, ys)
	c := chart{ID: id + "-trials", Title: metricText(metric) + " of the trials over learning rate", x: newAxis("learning rate", true, xs...), y: y}
	c.Description = fmt.Sprintf("%d trials; the table of trials has their numbers.", len(p.Trials))
	for i, t := range p.Trials {
		d := dot{class: "trial", shape: "circle"}
		text := t.outcome()
		if text == "" {
			text = scoreText(&report.Score{Metric: metric, Value: *t.Score})
		}
		d.title = fmt.Sprintf("trial %d: learning rate %s, %s", i+1, short(t.LearningRate), sheet.Plain(text))
		if i != p.best() {
			c.dots = append(c.dots, scoreDot(y, t.LearningRate, t.Score, d))
		}
	}
	if b := p.best(); b >= 0 { // on top of the others
		t := p.Trials[b]
		c.dots = append(c.dots, scoreDot(y, t.LearningRate, t.Score, dot{
			name: "winner", class: "winner", shape: "diamond", title: fmt.Sprintf("trial %d, the winner", b+1),
		}))
	}
	if released {
		c.dots = append(c.dots, scoreDot(y, r.Hyperparameters.LearningRate, &r.Score.Value, dot{
			name: "final run", class: "final", shape: "square", title: "the final run, " + scoreText(r.Score),
		}))
	}
	return figure{
		Chart:   c.draw(),
		Caption: "Each circle is a trial, the diamond the winner, the square the final run on more data. Crosses at the lower edge have no score; triangles there are below the axis.",
	}
}

// learning returns the chart of the released learning curve; nil if there is none.
func (r Run) learning(id string) *figure {
	if r.Curve == nil || r.Score == nil {
		return nil
	}
	k := curve{class: "best"}
	f := &figure{
		Caption: "Score on the public test set after some of the steps. The guarantee covers the model after each of them.",
		Columns: []string{"steps", "score"},
	}
	if r.Curve.Epsilons != nil {
		f.Columns = append(f.Columns, "epsilon so far")
	}
	for i, p := range r.Curve.Points {
		k.x, k.y = append(k.x, float64(p.Step)), append(k.y, p.Score)
		row := []string{report.Grouped(p.Step), scoreText(&report.Score{Metric: r.Score.Metric, Value: p.Score})}
		if r.Curve.Epsilons != nil {
			row = append(row, report.Up(r.Curve.Epsilons[i]))
		}
		f.Rows = append(f.Rows, row)
	}
	c := chart{
		ID: id + "-learning", Title: metricText(r.Score.Metric) + " over steps",
		Description: fmt.Sprintf("A learning curve of %d points; the table below has their numbers.", len(k.x)),
		x:           newAxis("steps", false, k.x...), y: scoreAxis(r.Score.Metric, k.y),
	}
	for i, s := range k.y {
		k.y[i] = max(s, c.y.low)
	}
	c.curves = []curve{k}
	f.Chart = c.draw()
	return f
}
