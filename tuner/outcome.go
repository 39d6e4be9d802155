package tuner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// PrivateOutcome is the outcome of a trial that [Executor.RunTrials] carried out, for the process that carries out the
// plan: see [PrivateTrials]. No guarantee covers it or its model: send it encrypted, and publish nothing of it.
type PrivateOutcome struct {
	Trial    int     // an index of [PrivateDraws].Trials
	Score    float64 // on the public test set, by its metric; -Inf without a model
	Diverged bool    // its parameters aren't finite, so it has no model
	Failure  string  // the error, if it failed and has no model; at most 64 KiB of UTF-8
	Trace    train.PrivateTrace
	// Parameters is the trial's model in a baseline plan, which releases the best, in the order of the model's
	// parameters. Otherwise it is nil.
	Parameters []train.Parameter
}

// ErrOutcome reports an outcome that none of the requested trials can have.
var ErrOutcome = errors.New("wrong outcome of a trial")

// maxFailure is the maximum length of PrivateOutcome.Failure, in bytes.
const maxFailure = 64 << 10

// needsModels reports whether the plan needs its best trial's model, and not only the candidate.
func (s Settings) needsModels() bool { return s.Method == Baseline }

// privateOutcome returns the outcome of a trial that has ended, for another process.
func (x *execution) privateOutcome(i int, t train.Trained) PrivateOutcome {
	o := PrivateOutcome{Trial: i, Score: scoreOf(t), Trace: t.Trace}
	switch {
	case t.Err != nil:
		o.Failure = failureOf(t.Err)
	case t.Result.Diverged():
		o.Diverged = true
	case x.plan.Settings.needsModels():
		o.Parameters = t.Result.Parameters
	}
	return o
}

// failureOf returns the text of an error, cut to an outcome's limit.
func failureOf(err error) string {
	text := strings.ToValidUTF8(err.Error(), "?")
	if text == "" {
		return "failed, without a message"
	}
	if len(text) > maxFailure {
		text = strings.ToValidUTF8(text[:maxFailure], "") // a character may be cut in two
	}
	return text
}

// believe checks the outcome of a trial that was carried out elsewhere, and returns it. The error wraps [ErrOutcome].
func (x *execution) believe(o PrivateOutcome) (outcome, error) {
	wrong := func(format string, args ...any) (outcome, error) {
		return outcome{}, fmt.Errorf("%w: trial %d: %s", ErrOutcome, o.Trial, fmt.Sprintf(format, args...))
	}
	if n := len(x.outcomes); o.Trial < 0 || o.Trial >= n {
		return wrong("the plan has no trial of this number")
	}
	if !x.outcomes[o.Trial].missing {
		return wrong("it has ended before; of several outcomes the first counts")
	}
	has := !o.Diverged && o.Failure == ""
	switch {
	case o.Diverged && o.Failure != "":
		return wrong("it diverged and failed; want at most one of both")
	case len(o.Failure) > maxFailure || !utf8.ValidString(o.Failure):
		return wrong("its failure isn't a text of at most %d bytes", maxFailure)
	case !has && o.Score != lowest:
		return wrong("score %v without a model; want -Inf", o.Score)
	case has && !x.scorable(o.Score):
		return wrong("score %v isn't one by the metric %s", o.Score, x.metric)
	case !(o.Trace.Seconds >= 0) || !finite(o.Trace.Seconds): // which JSON can't keep
		return wrong("it took %v seconds", o.Trace.Seconds)
	}
	out := x.outcomeOf(o)
	if !has || !x.plan.Settings.needsModels() {
		if o.Parameters != nil {
			return wrong("it has parameters, and none are wanted")
		}
		return out, nil
	}
	model, problem := x.modelOf(o.Parameters)
	if problem != "" {
		return wrong("%s", problem)
	}
	out.model = model
	return out, nil
}

// scorable reports whether the metric can give a model this score. A noisy score has no bounds, and neither has a
// measure of the caller's own.
func (x *execution) scorable(score float64) bool {
	switch {
	case x.plan.Settings.holdsOut():
		return finite(score)
	case x.metric == train.Accuracy:
		return score >= 0 && score <= 1
	case x.metric == train.R2:
		return finite(score) && score <= 1
	}
	return finite(score)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// modelOf returns a copy of a model's parameters, or a problem with them.
func (x *execution) modelOf(given []train.Parameter) (model []train.Parameter, problem string) {
	if len(given) != len(x.shapes) {
		return nil, fmt.Sprintf("%d parameters; the model has %d", len(given), len(x.shapes))
	}
	for i, want := range x.shapes {
		p := given[i]
		if p.Name != want.Name || !slices.Equal(p.Shape, want.Shape) || len(p.Values) != len(want.Values) {
			return nil, fmt.Sprintf("parameter %d is %.100q of shape %v with %d values; the model's is %q of shape %v", i, p.Name, p.Shape, len(p.Values), want.Name, want.Shape)
		}
		for k, v := range p.Values {
			if !finite(float64(v)) {
				return nil, fmt.Sprintf("parameter %q has %v at position %d, and the trial hasn't diverged", p.Name, v, k)
			}
		}
		model = append(model, train.Parameter{Name: want.Name, Shape: slices.Clone(want.Shape), Values: slices.Clone(p.Values)})
	}
	return model, ""
}

// lowest is the score of a trial that failed or diverged. Every model scores higher.
var lowest = math.Inf(-1)

// none is the winner's index if no trial was drawn.
const none = -1

// selectBest returns the index of the outcome with the best score, the first of equal ones, or none. The order of
// outcomes doesn't depend on the data. Trials that haven't ended don't count.
func selectBest(trials []outcome) int {
	best := none
	for i, t := range trials {
		if t.missing {
			continue
		}
		if best == none || t.record.Score > trials[best].record.Score {
			best = i
		}
	}
	return best
}

// Result is the result of tuning. Its two parts have different types, so that the private part isn't mistaken for the
// released one.
type Result struct {
	Released Released
	Private  Private
}

// Released is the part of a result that the guarantee of Event covers.
type Released struct {
	Parameters      []train.Parameter
	Hyperparameters Hyperparameters
	TestScore       float64 // score of the released model on the public test set, by its metric
	Event           accountant.Event
	// Curve is the learning curve of the final run, if the keeper's Spacing asks for one: see [train.Spacing].
	Curve []train.Point
	// HeldOut is the score on held-out samples if the plan holds out samples. TestScore is then its Score.
	HeldOut *train.HeldOutScore
}

// Hyperparameters are the hyperparameters of a released model.
type Hyperparameters struct {
	Tuned     Candidate       // as the winning trial used them
	Privacy   train.Privacy   // settings of the run that trained the released model
	Optimizer train.Optimizer // optimizer of that run, with its extrapolated learning rate
}

// Private is the part of a result that no guarantee covers. It must not be published.
type Private struct {
	SubsetSize   int // |X1|; for the baseline the size of its training data
	Trials       []PrivateTrial
	Best         int     // index of the winning trial; -1 if no trial was drawn
	FinalSeconds float64 // duration of the final run
}

// PrivateTrial is the outcome of one trial.
type PrivateTrial struct {
	Trial
	Score    float64 // on the public test set or, with noise, on held-out samples; -Inf if it failed or diverged
	Diverged bool    // its parameters aren't finite
	Failure  string  // the error, if it failed
	// This trial's share of the training time of its group: see [train.PrivateTrace].
	Seconds float64
}
