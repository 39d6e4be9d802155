package figure

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/train"
)

// Learning shows the learning curve of a run: a score over steps and, if it is known, epsilon up to each step.
type Learning struct {
	Metric   string
	Points   []train.Point // at least one, in the order of their steps
	Epsilons []float64     // of the steps up to each point; nil if they aren't known
}

// Table returns a row for each point.
func (l Learning) Table() [][]string {
	rows := [][]string{{"step", "score"}}
	if l.Epsilons != nil {
		rows[0] = append(rows[0], "epsilon")
	}
	for i, p := range l.Points {
		row := []string{fmt.Sprint(p.Step), number(p.Score)}
		if l.Epsilons != nil {
			row = append(row, number(l.Epsilons[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// WorstDrawn is the smallest score that is drawn. A constant answer has an R² of 0; far below that, a run is diverging,
// and its scores would leave no room for the others.
const WorstDrawn = -1

func (l Learning) drawing() drawing {
	c := curve{stroke: strokes[0], marker: markers[0], every: (len(l.Points) + 39) / 40}
	drawn := false
	for _, p := range l.Points {
		score := p.Score
		if !(score >= WorstDrawn) || math.IsInf(score, 0) {
			score = math.NaN()
		}
		drawn = drawn || score == score
		c.x, c.y = append(c.x, float64(p.Step)), append(c.y, score)
	}
	p := panel{title: "learning curve of the released model", x: axis{label: "step"}, y: axis{label: l.Metric + " on the public test set"}}
	if drawn {
		p.curves = []curve{c}
	} else {
		p.empty = "no score above " + fmt.Sprint(WorstDrawn)
		p.x.high, p.y.high = max(1, c.x[len(c.x)-1]), 1
	}
	name := l.Metric
	if l.Epsilons != nil {
		name += ", epsilon " + up(l.Epsilons[len(l.Epsilons)-1]) + " at the last step"
	}
	return drawing{panels: []panel{p}, key: [][]keyEntry{{{name, strokes[0], markers[0]}}}}
}
