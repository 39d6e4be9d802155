package experiment

import (
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
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
	score := release.Score{Metric: p.metric(), Value: t.score}
	v := Verdict{Constant: release.Score{Metric: score.Metric, Value: test.Constant()}, Answer: "the mean of the labels"}
	if score.Metric == train.Accuracy {
		v.Answer = "the largest class"
	}
	if p.ranking() {
		v.Answer = "a constant probability of each class"
	}
	if t.heldOut != nil {
		v.Constant.Value = t.heldOut.Constant
		if score.Metric == train.R2 {
			v.Answer = "the shift of the label's scale"
		}
	}
	switch m := t.measured; {
	case p.ranking() && m != nil && m.Rarer >= 0 && m.Counts[m.Rarer].Predicted == 0 && m.Ranks(): // though chosen well
		v.Warning = p.ranks(*m, v)
	case score.Value > v.Constant.Value && (!p.ranking() || m == nil || m.Order()):
	case t.heldOut != nil: // noise can put a good model below a constant
		v.Warning = fmt.Sprintf("held-out rows don't show that the model is better than one answer for every row: %s has %s of about %s there, and both are estimates with noise; hold out more of the rows, or try %s. Each further run on the same data adds its epsilon",
			v.Answer, score.Metric, v.Constant, p.remedy())
	case m != nil && score.Metric == train.Accuracy && m.Ranks():
		v.Warning = p.ranks(*m, v)
	default:
		v.Warning = fmt.Sprintf("the model is no better than one answer for every row: %s has %s %s; try %s. Each further run on the same data adds its epsilon",
			v.Answer, score.Metric, v.Constant, p.remedy())
	}
	return v
}

// ranks says what a model is good for whose predicted classes are no better than one answer, unlike its probabilities.
func (p *Plan) ranks(c scores.Classification, v Verdict) string {
	by := fmt.Sprintf("the model ranks rows (AUC %.2f; log loss %.4f, and class frequencies have %.4f)", c.AUC, c.LogLoss, c.SharesLogLoss)
	if c.Rarer < 0 {
		return fmt.Sprintf("predicted classes are no better than one answer for every row: %s has accuracy %s; but %s: use its probabilities", v.Answer, v.Constant, by)
	}
	rarer, of := (&Released{Model: p.data.model}).Class(c.Rarer), c.Counts[c.Rarer]
	reach := "no row's probability of " + rarer + " reaches one half"
	if of.Predicted > 0 {
		reach = fmt.Sprintf("%s of %s rows reach one half for %s, and predicted classes are no better than one answer for every row", release.Grouped(of.Predicted), release.Grouped(p.Samples.Test), rarer)
	}
	return fmt.Sprintf("%s; but %s: use its probabilities, or a threshold, such as --threshold %s=%.2g of \"dptrain predict\" and \"evaluate\"",
		reach, by, rarer, float64(of.Samples)/float64(p.Samples.Test))
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
	case p.choice.ruled:
		return "more rows, fewer columns or a larger epsilon"
	case p.privacy.Tuning == nil:
		return "another --learning-rate, or \"dptrain tune\", which finds one and accounts for that"
	case p.Experiment.Training.Optimizer == string(train.DPSGD):
		return "--optimizer dp-adam, whose learning rates don't grow with the data, or smaller ones by --largest-final-rate"
	case p.subsetWarning() != "":
		return smallRemedy
	}
	return "another --model, other learning rates (--set tuning.learning_rates=…), or a larger epsilon"
}
