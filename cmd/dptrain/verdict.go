package main

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// verdict puts a released score beside what one answer for all rows would have. It follows from the score and public
// labels, and so is public.
type verdict struct {
	constant report.Score
	answer   string // which one that is
	warning  string // that the model is no better than that, and what to try; empty for a better one
}

// judge returns the verdict on a model's score on the public test set.
func judge(test train.Labelled, score report.Score, p plan) verdict {
	v := verdict{constant: report.Score{Metric: score.Metric, Value: test.Constant()}, answer: "the mean of the labels"}
	if test.Metric() == train.Accuracy {
		v.answer = "the largest class"
	}
	if score.Value <= v.constant.Value {
		v.warning = fmt.Sprintf("the model is no better than one answer for every row: %s has %s %s; try %s. Each further run on the same data adds its epsilon",
			v.answer, score.Metric, v.constant, remedy(p))
	}
	return v
}

// remedy is what most often helps, by what the plan is.
func remedy(p plan) string {
	switch {
	case p.size.outliers:
		return "to " + closerClip(p)
	case len(p.size.large) > 0:
		return "scaling the columns: \"dptrain data describe\" suggests --scale and --clip from public rows"
	case p.privacy.Tuning == nil:
		return "another --learning-rate, or \"dptrain tune\", which finds one and accounts for that"
	case p.experiment.Training.Optimizer == string(engine.SGD):
		return "--optimizer dp-adam, whose learning rates don't grow with the data, or smaller ones by --largest-final-rate"
	}
	return "another --model, other learning rates (--set tuning.learning_rates=…), or a larger epsilon"
}
