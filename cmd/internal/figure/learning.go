package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
)

// Learning shows the learning curve of a run: a score over steps and, if it is known, epsilon up to each step.
type Learning struct {
	metric string
	points []LearningPoint
}

// LearningPoint is a point of a learning curve.
type LearningPoint struct {
	Step    int
	Score   float64
	Epsilon *float64 // of the steps so far; nil if it isn't known, at all points or at none
}

// NewLearning returns a figure of points in the order of their steps. The error wraps [accountant.ErrInvalid] if there
// are none, or they aren't in that order, or some of them have an epsilon and some don't.
func NewLearning(metric string, points []LearningPoint) (Learning, error) {
	if len(points) == 0 {
		return Learning{}, fmt.Errorf("%w figure: a learning curve without points", accountant.ErrInvalid)
	}
	for i, p := range points {
		if p.Step < 0 || i > 0 && p.Step <= points[i-1].Step || (p.Epsilon == nil) != (points[0].Epsilon == nil) {
			return Learning{}, fmt.Errorf("%w figure: point %d of the learning curve, at step %d; want ascending steps, and an epsilon of all or of none", accountant.ErrInvalid, i+1, p.Step)
		}
	}
	return Learning{metric, slices.Clone(points)}, nil
}

// Table returns a row for each point.
func (l Learning) Table() [][]string {
	head := []string{"step", "score"}
	if l.points[0].Epsilon != nil {
		head = append(head, "epsilon")
	}
	rows := [][]string{head}
	for _, p := range l.points {
		row := numbers(float64(p.Step), p.Score)
		row[0] = fmt.Sprint(p.Step)
		if p.Epsilon != nil {
			row = append(row, numbers(*p.Epsilon)...)
		}
		rows = append(rows, row)
	}
	return rows
}

// WorstDrawn is the smallest score that is drawn. A constant answer has an R² of 0; far below that, a run is diverging,
// and its scores would leave no room for the others.
const WorstDrawn = -1

func (l Learning) drawing() drawing {
	mark := markers[0]
	c := curve{stroke: strokes[0], marker: mark, every: (len(l.points) + 39) / 40}
	drawn := false
	for _, p := range l.points {
		score := p.Score
		if !(score >= WorstDrawn) || math.IsInf(score, 0) {
			score = math.NaN()
		}
		drawn = drawn || score == score
		c.x, c.y = append(c.x, float64(p.Step)), append(c.y, score)
	}
	p := panel{title: "learning curve of the released model", x: axis{label: "step"}, y: axis{label: l.metric + " on the public test set"}}
	if drawn {
		p.curves = []curve{c}
	} else {
		p.empty = "no score above " + fmt.Sprint(WorstDrawn)
		p.x.high, p.y.high = max(1, c.x[len(c.x)-1]), 1
	}
	d := drawing{panels: []panel{p}}
	name := l.metric
	if last := l.points[len(l.points)-1]; last.Epsilon != nil {
		name += ", epsilon " + up(*last.Epsilon) + " at the last step"
	}
	d.key = [][]keyEntry{{{name, strokes[0], mark}}}
	return d
}
