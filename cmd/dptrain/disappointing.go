package main

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/train/engine"
)

// disappointing says that a model is no better on the public test set than one answer for all, and what to try; it is
// empty for a model that is better. It follows from the released score and public labels, and so is public.
func disappointing(test train.Labelled, score report.Score, p plan) string {
	constant := report.Score{Metric: score.Metric, Value: test.Constant()}
	if score.Value > constant.Value {
		return ""
	}
	always := "the mean of the public labels for every row would"
	if test.Metric() == train.Accuracy {
		always = "the largest class for every row would"
	}
	return fmt.Sprintf("the model has learnt nothing: its %s is %s, and %s have %s; try %s. Each further run on the same data adds its epsilon",
		score.Metric, score, always, constant, remedy(p))
}

// remedy is what most often helps, by what the plan is.
func remedy(p plan) string {
	sgd := p.experiment.Training.Optimizer == string(engine.SGD)
	switch {
	case len(p.size.large) > 0:
		return "scaling the columns: \"dptrain data describe\" suggests --scale and --clip from public rows"
	case p.privacy.Tuning == nil:
		return "another --learning-rate, or \"dptrain tune\", which finds one and accounts for that"
	case sgd:
		return "--optimizer dp-adam, whose learning rates don't grow with the data, or smaller ones by --largest-final-rate"
	}
	return "other learning rates by --set tuning.learning_rates=0.001,0.01,0.1, a larger epsilon, or a smaller model"
}
