package tuner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/train"
)

// maxTogether is the maximum number of runs in one group. More would hold the states of all at the same time.
const maxTogether = 64

// company is the state of one call of RunAll: plans that are carried out side by side.
type company struct {
	Executor // its Keeper and Progress serve Run alone
	loaded   *train.Loaded
	plans    []*execution
	calling  sync.Mutex // held while a function Progress is called
}

func newCompany(e Executor, work []Work) *company {
	c := &company{Executor: e}
	for i, w := range work {
		x := &execution{number: i, keeper: w.Keeper, progress: c.oneAtATime(w.Progress), trials: w.Trials, stored: none}
		x.plan, x.err = w.Plan.redraw()
		c.plans = append(c.plans, x)
	}
	return c
}

// oneAtATime wraps progress so that calls of the wrapped functions never overlap.
func (c *company) oneAtATime(progress func(PrivateProgress)) func(PrivateProgress) {
	if progress == nil {
		return nil
	}
	return func(p PrivateProgress) {
		c.calling.Lock()
		defer c.calling.Unlock()
		progress(p)
	}
}

// left returns the plans that have neither failed nor ended.
func (c *company) left() (left []*execution) {
	for _, x := range c.plans {
		if x.err == nil && !x.ended {
			left = append(left, x)
		}
	}
	return left
}

// run carries out the plans. Its errors stop all of them; the error of a single plan is in its execution.
func (c *company) run(ctx context.Context) error {
	if len(c.left()) == 0 {
		return nil
	}
	return c.checked(func() error {
		for _, x := range c.left() {
			if x.begin(); errors.Is(x.err, train.ErrLost) {
				return x.err
			}
		}
		if err := c.tune(ctx); err != nil {
			return err
		}
		return c.finish(ctx)
	})
}

// checked loads the model and the data, for all plans, checks the plans, and then calls do.
func (c *company) checked(do func() error) (err error) {
	if c.loaded, err = train.Load(c.Engine, c.Model, c.Data); err != nil {
		return err
	}
	defer func() {
		if unclosed := c.loaded.Close(); unclosed != nil {
			err = errors.Join(err, unclosed)
		}
	}()
	if err := c.check(); err != nil {
		return err
	}
	return do()
}

// check finds errors that would otherwise end hours of training, before anything is trained.
func (c *company) check() error {
	if err := c.checkTest(); err != nil {
		return err
	}
	for _, x := range c.left() {
		x.loaded = c.loaded
		if x.test, x.err = x.plan.test(c.Data, c.Test); x.err != nil {
			continue
		}
		x.metric = x.test.Metric()
		if x.err = x.check(c.Data); errors.Is(x.err, train.ErrLost) {
			return x.err
		}
	}
	if reason := c.loaded.Fallback(); reason != nil && c.Fallback != nil && len(c.left()) > 0 {
		c.Fallback(reason)
	}
	return nil
}

// checkTest checks the public test set. If plans hold out samples, the test set is private, and each plan checks its
// held-out samples: an error must not show, for example, that all private labels are the same.
func (c *company) checkTest() error {
	for _, x := range c.left() {
		if !x.plan.Settings.holdsOut() {
			return c.loaded.CheckTest(c.Test)
		}
	}
	return nil
}

// trial is a trial of one of the plans.
type trial struct {
	*execution
	index int // in the plan
}

// next returns the trials of the next group that trains here: the first missing ones of each plan, plan after plan.
func (c *company) next() (group []trial) {
	for _, x := range c.left() {
		if x.trials != nil {
			continue
		}
		for _, i := range x.missing() {
			if len(group) == maxTogether {
				return group
			}
			group = append(group, trial{x, i})
		}
	}
	return group
}

// tune carries out all trials: some plans' trials elsewhere, and at the same time the other plans' trials here. An
// error that stops one part stops the other.
func (c *company) tune(ctx context.Context) error {
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	var first error
	var once sync.Once
	stop := func(err error) { once.Do(func() { first = err; cancel() }) }
	var away sync.WaitGroup
	for _, x := range c.left() {
		if x.trials == nil {
			continue
		}
		away.Go(func() {
			switch err := x.tuneElsewhere(under); {
			case err == nil:
			case ctx.Err() != nil && errors.Is(err, ctx.Err()): // no plan's fault
				stop(fmt.Errorf("tuning stopped: %w", err))
			default:
				stop(&PlanError{x.number, fmt.Errorf("tuning stopped: %w", err)})
			}
		})
	}
	if err := c.tuneHere(under); err != nil {
		stop(err)
	}
	away.Wait()
	if first != nil {
		return first
	}
	for _, x := range c.left() {
		succeeded := func(o outcome) bool { return o.err == nil }
		if len(x.outcomes) > 0 && !slices.ContainsFunc(x.outcomes, succeeded) {
			x.err = fmt.Errorf("every trial failed; the first: %w", x.outcomes[0].err)
		}
	}
	return nil
}

// tuneHere carries out the trials that train on this executor's engine.
func (c *company) tuneHere(ctx context.Context) error {
	for group := c.next(); len(group) > 0; group = c.next() {
		runs, plans := make([]train.Run, len(group)), make([]*execution, len(group))
		for k, t := range group {
			runs[k], plans[k] = t.run(t.index), t.execution
		}
		trained, err := c.loaded.TrainAll(ctx, c.Test, runs...)
		if err != nil {
			return stopped("tuning stopped", err, plans)
		}
		for k, t := range group {
			t.add(t.index, trained[k])
		}
		for _, x := range slices.Compact(plans) {
			if err := x.keep(); err != nil {
				return &PlanError{x.number, fmt.Errorf("tuning stopped: %w", err)}
			}
		}
	}
	return nil
}

// finish carries out the final runs.
func (c *company) finish(ctx context.Context) error {
	for _, x := range c.left() {
		x.choose()
	}
	for group := range slices.Chunk(c.left(), maxTogether) {
		runs := make([]train.Run, len(group))
		for k, x := range group {
			runs[k] = x.final()
		}
		trained, err := c.loaded.TrainAll(ctx, c.Test, runs...)
		if err != nil {
			return stopped("final run", err, group)
		}
		for k, x := range group {
			x.release(trained[k])
		}
	}
	for _, x := range c.plans {
		if err := x.scoreReleased(ctx, c.Executor); err != nil {
			return fmt.Errorf("final run: %w", err)
		}
	}
	return nil
}

// stopped returns the error of a group that has one run of each plan. It names the plan whose state can't be kept.
func stopped(what string, err error, plans []*execution) error {
	err = fmt.Errorf("%s: %w", what, err)
	if unkept, ok := errors.AsType[*train.KeepError](err); ok {
		return &PlanError{plans[unkept.Run].number, err}
	}
	return err
}
