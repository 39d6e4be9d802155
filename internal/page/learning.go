package page

import (
	"fmt"
	"strconv"

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

// maxCurves is the maximum number of learning curves in a chart, besides the winner's and the final run's.
const maxCurves = 300

// curves returns the chart of learning curves. It returns false if no run has one.
func (p *PrivateRun) curves(metric train.Metric, id string) (figure, bool) {
	c := chart{ID: id + "-curves", Title: metricText(metric) + " over steps"}
	f := figure{
		Caption: "Score on the public test set while training: each thin line is a trial.",
		Columns: []string{"run", "steps", "score"},
	}
	steps, scores := []float64{0}, []float64{}
	add := func(points []PrivatePoint, k curve, who string) {
		if len(points) == 0 {
			return
		}
		for _, at := range points {
			if at.Score == nil {
				continue
			}
			k.x, k.y = append(k.x, float64(at.Step)), append(k.y, *at.Score)
		}
		steps, scores = append(steps, k.x...), append(scores, k.y...)
		c.curves = append(c.curves, k)
		if n := len(k.y); n > 0 {
			f.Rows = append(f.Rows, []string{who, report.Grouped(int(k.x[n-1])), scoreText(&report.Score{Metric: metric, Value: k.y[n-1]})})
		}
	}
	for i, t := range p.Trials {
		if i != p.best() && i < maxCurves {
			add(t.Curve, curve{class: "trial"}, "trial "+strconv.Itoa(i+1))
		}
	}
	if b := p.best(); b >= 0 {
		add(p.Trials[b].Curve, curve{name: "winner", class: "winner"}, "winner")
	}
	add(p.FinalCurve, curve{name: "final run", class: "final"}, "final run")
	if len(scores) == 0 {
		return f, false
	}
	c.x, c.y = newAxis("steps", false, steps...), scoreAxis(metric, scores)
	for i, k := range c.curves {
		for j, s := range k.y {
			if s < c.y.low {
				c.curves[i].y[j] = c.y.low
			}
		}
	}
	c.Description = fmt.Sprintf("%d learning curves; the table below has their last scores.", len(c.curves))
	f.Chart = c.draw()
	return f, true
}
