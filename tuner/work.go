package tuner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/train"
)

// Work is a plan to carry out beside others by [Executor.RunAll].
type Work struct {
	Plan Plan
	// Keeper saves the plan's work so far: see [Executor]. Each plan needs its own store.
	Keeper train.Keeper
	// Progress is called with each event of the plan. It may be nil.
	Progress func(PrivateProgress)
	// Trials carries out the trials elsewhere; nil trains them here, like the final run.
	Trials PrivateTrials
}

// PlanErrors reports the plans of [Executor.RunAll] that failed: element i is the error of plan i, or nil.
type PlanErrors []error

func (e PlanErrors) Error() string {
	var out []string
	for i, err := range e {
		if err != nil {
			out = append(out, fmt.Sprintf("plan %d: %v", i, err))
		}
	}
	return strings.Join(out, "; ")
}

// Unwrap returns the errors that aren't nil.
func (e PlanErrors) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e), func(err error) bool { return err == nil })
}

// Or returns e, or nil if no plan failed.
func (e PlanErrors) Or() error {
	if len(e.Unwrap()) == 0 {
		return nil
	}
	return e
}

// PlanError reports the plan of [Executor.RunAll] whose state can't be saved, or whose trials elsewhere fail. Either
// stops all plans.
type PlanError struct {
	Plan int // its number in the work
	Err  error
}

func (e *PlanError) Error() string { return fmt.Sprintf("plan %d: %v", e.Plan, e.Err) }
func (e *PlanError) Unwrap() error { return e.Err }

// RunAll carries out several plans side by side. First the trials of all plans train in groups of at most 64, which may
// have trials of several plans, then the final runs of all plans. The results are in the order of work. Each equals the
// result of [Executor.Run] for this plan alone, except for the times in its private part. The same holds for the
// content of the plan's keeper and for its progress. RunAll calls the functions of all plans one at a time.
//
// A plan that fails, as Run says, doesn't stop the others. Its result is then zero, and the error is a [PlanErrors]. A
// plan that is wrong, or whose store belongs to another, fails before anything is trained.
//
// Trials elsewhere and trials here run at the same time. RunAll then calls the methods of [PrivateTrials] at the same
// time, and the functions Progress still one at a time.
//
// If ctx is cancelled, the device is lost, or a state can't be saved or trials elsewhere fail (either a [*PlanError]),
// all plans stop. RunAll then returns that error, which isn't a PlanErrors, and no results. Plans that have keepers can
// be resumed, beside any other plans, with their trials here or elsewhere.
//
// Give each plan its own key: see [NewPlan]. Until RunAll returns, it holds the draws and the best model of every plan,
// besides the runs of a group.
func (e Executor) RunAll(ctx context.Context, work ...Work) ([]Result, error) {
	c := newCompany(e, work)
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	results, failed := make([]Result, len(work)), make(PlanErrors, len(work))
	for i, x := range c.plans {
		results[i], failed[i] = x.result, x.err
	}
	return results, failed.Or()
}

// RunTrials carries out some trials of a plan on behalf of another process, which carries out the plan: see
// [PrivateTrials]. The numbers are indices of plan.Private.Trials, each at most once. The trials train in groups of at
// most 64. The outcomes are in the order of the numbers, and no guarantee covers them. Until RunTrials returns it holds
// the models of all these trials if the plan needs them.
//
// RunTrials checks plan, model, data and test set first, as [Executor.Run] does. It keeps nothing: it uses only Curve
// of the Keeper. Progress receives the events of these trials, whose work is then the total. A trial that fails or
// diverges is an outcome. A lost device, a cancelled context, and a plan or data that don't fit are errors without
// outcomes.
func (e Executor) RunTrials(ctx context.Context, plan Plan, trials []int) (out []PrivateOutcome, err error) {
	c := newCompany(e, []Work{{Plan: plan, Keeper: train.Keeper{Curve: e.Keeper.Curve}, Progress: e.Progress}})
	x := c.plans[0]
	if x.err != nil {
		return nil, x.err
	}
	trials = slices.Clone(trials)
	if err := x.checkNumbers(trials); err != nil {
		return nil, err
	}
	err = c.checked(func() error {
		if x.err != nil {
			return x.err
		}
		x.meter = newMeter(x.plan, x.progress)
		x.meter.state.Total = 0
		for _, i := range trials {
			x.meter.state.Total += work(x.plan.trial(i).Privacy)
		}
		for group := range slices.Chunk(trials, maxTogether) {
			runs := make([]train.Run, len(group))
			for k, i := range group {
				runs[k] = x.run(i)
			}
			trained, err := c.loaded.TrainAll(ctx, c.Test, runs...)
			if err != nil {
				return fmt.Errorf("trials stopped: %w", err)
			}
			for k, i := range group {
				out = append(out, x.privateOutcome(i, trained[k]))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkNumbers returns an error unless each number is a trial's and no two are equal.
func (x *execution) checkNumbers(trials []int) error {
	seen := make([]bool, len(x.plan.Private.Trials))
	for _, i := range trials {
		if i < 0 || i >= len(seen) {
			return &train.SettingError{Setting: "number of a trial", Value: i, Want: "an index of the plan's trials"}
		}
		if seen[i] {
			return &train.SettingError{Setting: "number of a trial", Value: i, Want: "each number once"}
		}
		seen[i] = true
	}
	return nil
}
