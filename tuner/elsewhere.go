package tuner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/train"
)

// PrivateTrials carries out the trials of a plan elsewhere, such as on other machines by [Executor.RunTrials]: see
// [Work]. Plan, numbers and outcomes are private, and the plan's key is the secret that its guarantee rests on, so they
// must travel encrypted, to machines that may see the training data.
//
// Run carries out the trials with the given numbers, which are indices of plan.Private.Trials, and calls done with each
// outcome, in any order. It returns nil once done has returned nil for each of them, and an error soon after ctx is
// cancelled. It doesn't change the plan. An error of Run stops all plans of [Executor.RunAll]; with a keeper the plan
// goes on later with the missing trials.
//
// The first outcome of a trial counts. If a trial is carried out several times, Run must not choose among its outcomes
// by their contents: that would be a search that the guarantee doesn't cover. On engines of the same arithmetic the
// outcomes, except for times, equal each other and RunAll's own; only then is the result bit for bit RunAll's result.
//
// done returns nil when the outcome is accepted and the plan's keeper, if any, has kept it: only then may a transport
// forget it. An error that wraps [ErrOutcome] reports an impossible outcome, and the trial is still missing. After any
// other error the plan stops. Calls of done wait for each other. After Run has returned, done changes nothing.
type PrivateTrials interface {
	Run(ctx context.Context, plan Plan, trials []int, done func(PrivateOutcome) error) error
}

// delivery is the state of one call of PrivateTrials.Run.
type delivery struct {
	*execution
	mu        sync.Mutex
	followers map[int]*follower // of the trials asked for
	closed    bool              // Run has returned
	wrong     error             // the last outcome that believe refused
	unkept    error             // the first outcome that can't be kept
}

// errClosed is the error of an outcome that comes too late.
var errClosed = errors.New("outcome of a trial: the plan isn't carried out any more")

// tuneElsewhere lets x.trials carry out the missing trials elsewhere.
func (x *execution) tuneElsewhere(ctx context.Context) error {
	missing := x.missing()
	if len(missing) == 0 {
		return nil
	}
	plan, err := x.plan.redraw() // a copy, so that no change reaches the final run
	if err != nil {
		return err
	}
	d := &delivery{execution: x, followers: map[int]*follower{}}
	for _, i := range missing {
		d.followers[i] = x.meter.trial(i, x.plan.trial(i).Privacy)
	}
	err = x.trials.Run(ctx, plan, missing, d.done)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	switch left := x.missing(); {
	case d.unkept != nil:
		return d.unkept
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("trials elsewhere: %w", err)
	case len(left) > 0 && d.wrong != nil:
		return fmt.Errorf("trials elsewhere: %d of %d have no outcome; the last that was refused: %w", len(left), len(x.outcomes), d.wrong)
	case len(left) > 0:
		return fmt.Errorf("trials elsewhere: %d of %d have no outcome, the first is trial %d", len(left), len(x.outcomes), left[0])
	}
	return nil
}

// done checks, records and keeps an outcome.
func (d *delivery) done(o PrivateOutcome) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return errClosed
	case d.unkept != nil:
		return d.unkept
	}
	believed, err := d.believe(o)
	if err != nil {
		d.wrong = err
		return err
	}
	before := selectBest(d.outcomes)
	d.put(o.Trial, believed)
	d.followers[o.Trial].finished(believed.record.Score, believed.err)
	d.unkept = d.keepOne(o.Trial, before)
	return d.unkept
}

// keepOne keeps an outcome that came from elsewhere. before is the best trial before it, or none. The model of a best
// trial is kept with its outcome first, so that a crash before the outcomes are kept loses neither. The states left by
// runs here are removed last.
func (x *execution) keepOne(i, before int) error {
	if x.keeper.Store == nil {
		return nil
	}
	if best := selectBest(x.outcomes); best == i && x.outcomes[i].model != nil {
		if err := x.keepModel(i); err != nil {
			return err
		}
	}
	if err := x.keepOutcomes(); err != nil {
		return err
	}
	forget := []uint32{x.plan.Private.Trials[i].Stream}
	if before != none && before != selectBest(x.outcomes) {
		forget = append(forget, x.plan.Private.Trials[before].Stream)
	}
	return x.keeper.Forget(forget...)
}

// shape returns parameters with the names, shapes and sizes of the model's. It starts a run of no steps, and closes it.
func (x *execution) shape() (parameters []train.Parameter, err error) {
	settings := x.plan.final(x.plan.First)
	settings.Privacy.Steps = 0
	group, err := x.loaded.Start(settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	result, err := group.Result(0)
	return result.Parameters, err
}
