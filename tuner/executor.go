package tuner

import (
	"context"

	"github.com/dptrain/dptrain/train"
)

// Executor carries out plans on one engine, which trains their runs side by side.
type Executor struct {
	Engine train.Engine
	// Model is compiled once. If it has a function Initial, each trial and the final run draw their own initial
	// parameters, as in the paper.
	Model train.Model
	// Data is X with its labels. Test is the public test set: the model with the best score on it wins. For plans that
	// hold out samples Test is X itself, a set whose Inputs is Data; only its held-out samples are scored.
	Data *train.Data
	Test train.Labelled
	// Progress is called by Run with each event, one call at a time. It may be nil. RunAll has one for each plan.
	Progress func(PrivateProgress)
	// Keeper saves the work of Run, so that Run in another process, with the same plan and otherwise the same Executor,
	// goes on from there and returns the same Released. RunAll has one for each plan. Its Spacing applies to the final
	// run only.
	Keeper train.Keeper
	// If Fallback isn't nil and [train.Loaded.Fallback] returns a reason, Fallback is called with it.
	Fallback func(reason error)
}

// Run carries out a plan. Before any training Run checks that [NewPlan] draws the same plan from its settings and key,
// and that settings, model, data and test set fit together. If ctx is cancelled, Run stops every run after a whole step
// and returns the context's error.
//
// If the Keeper's store has an earlier call's work, Run goes on from it. If that call had another plan, model, data,
// test set or engine arithmetic, the error wraps [train.ErrOtherRun], and nothing is trained.
//
// A trial that fails gets the lowest score, and tuning goes on. If all trials fail, Run returns the first trial's
// error. If there is no finite model to release, the error of Run wraps [train.ErrDiverged].
func (e Executor) Run(ctx context.Context, plan Plan) (Result, error) {
	results, err := e.RunAll(ctx, Work{Plan: plan, Keeper: e.Keeper, Progress: e.Progress})
	switch failed := err.(type) {
	case PlanErrors:
		err = failed[0]
	case *PlanError:
		err = failed.Err
	}
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// Kind is the kind of an event.
type Kind string

// The kinds of progress.
const (
	Started  Kind = "started"  // a run begins
	Stepped  Kind = "stepped"  // a run has taken some steps
	Finished Kind = "finished" // a run has ended, with a model or without
)

// PrivateProgress reports an event of tuning to the person who runs the program. It contains K and the progress of
// trials, so it must not be published.
type PrivateProgress struct {
	Kind   Kind
	Final  bool // the event concerns the final run
	Trial  int  // number of the trial that the event concerns, from 1, unless Final
	Trials int  // K

	TrialsDone  int // trials that have taken all their steps, or failed
	Step, Steps int // of the run

	// Done is the work done and Total the whole work, in expected per-sample gradients. If candidates differ in cost,
	// Total is an estimate until the final run begins.
	Done, Total float64

	// Score is a finished trial's score, or the final model's, on the public test set; -Inf without a model.
	Score float64
	// Err is the error of a finished trial that failed. It scores lowest and tuning goes on.
	Err error
}
