package experiment

import (
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
)

// Verdict compares a released score with the score of the best constant answer.
type Verdict struct {
	Constant release.Score
	Answer   string // the constant answer
	Warning  string // what to change if the model isn't better than the constant answer; empty if it is
}

// judge returns the verdict on a score on the public test set, or on the released score on held-out samples.
func (p *Plan) judge(t trained) Verdict {
	test := p.scored()
	if test == nil {
		return Verdict{Warning: `not scored: there were no public rows, so nothing shows what it has learned; "dptrain evaluate" tells, on labelled rows that it wasn't trained on`}
	}
	score := release.Score{Metric: test.Metric(), Value: t.score}
	v := Verdict{Constant: release.Score{Metric: score.Metric, Value: test.Constant()}, Answer: "the mean of the labels"}
	if score.Metric == train.Accuracy {
		v.Answer = "the largest class"
	}
	if t.heldOut != nil {
		v.Constant.Value = t.heldOut.Constant
		if score.Metric == train.R2 {
			v.Answer = "the shift of the label's scale"
		}
	}
	switch {
	case score.Value > v.Constant.Value:
	case t.heldOut != nil: // noise can put a good model below a constant
		v.Warning = fmt.Sprintf("held-out rows don't show that the model is better than one answer for every row: %s has %s of about %s there, and both are estimates with noise; hold out more of the rows, or try %s. Each further run on the same data adds its epsilon",
			v.Answer, score.Metric, v.Constant, p.remedy())
	default:
		v.Warning = fmt.Sprintf("the model is no better than one answer for every row: %s has %s %s; try %s. Each further run on the same data adds its epsilon",
			v.Answer, score.Metric, v.Constant, p.remedy())
	}
	return v
}

// remedy returns the change that helps most often.
func (p *Plan) remedy() string {
	switch {
	case p.Samples.outliers:
		return "to " + p.Samples.closerClip()
	case len(p.Samples.large) > 0:
		return "scaling the columns: \"dptrain data describe\" suggests --scale and --clip from public rows"
	case p.rateWarning() != "":
		return fmt.Sprintf("learning rates of at most %.2g in the final run, or --optimizer dp-adam", p.Samples.stable)
	case p.privacy.Tuning == nil:
		return "another --learning-rate, or \"dptrain tune\", which finds one and accounts for that"
	case p.Experiment.Training.Optimizer == string(train.DPSGD):
		return "--optimizer dp-adam, whose learning rates don't grow with the data, or smaller ones by --largest-final-rate"
	case p.subsetWarning() != "":
		return p.smallRemedy()
	}
	return "another --model, other learning rates (--set tuning.learning_rates=…), or a larger epsilon"
}
