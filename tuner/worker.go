package tuner

import (
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/train"
)

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
