package tuner

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// outcome is the outcome of a trial.
type outcome struct {
	record PrivateTrial
	model  []train.Parameter // nil if the trial diverged or failed, or another is better
	err    error             // of a trial that failed
}

// maxTogether is the maximum number of trials in one group. Few plans have more trials; those that do must not hold the
// state of all at the same time.
const maxTogether = 64

// tune carries out all trials. It returns their outcomes in the order of the plan. Only the best has its model.
func (x *execution) tune(ctx context.Context) ([]outcome, error) {
	trials := len(x.plan.Private.Trials)
	outcomes, err := x.kept()
	if err != nil {
		return nil, fmt.Errorf("go on with the trials: %w", err)
	}
	for len(outcomes) < trials {
		first := len(outcomes)
		group, err := x.trials(ctx, first, min(first+maxTogether, trials))
		if err != nil {
			return nil, fmt.Errorf("tuning stopped: %w", err)
		}
		outcomes = append(outcomes, group...)
		best := selectBest(outcomes)
		for i := range outcomes {
			if i != best {
				outcomes[i].model = nil
			}
		}
		if err := x.keep(outcomes, best); err != nil {
			return nil, fmt.Errorf("tuning stopped: %w", err)
		}
	}
	return outcomes, anySucceeded(outcomes)
}

// anySucceeded returns an error if all trials failed and there was one.
func anySucceeded(outcomes []outcome) error {
	for _, o := range outcomes {
		if o.err == nil {
			return nil
		}
	}
	if len(outcomes) == 0 {
		return nil
	}
	return fmt.Errorf("every trial failed; the first: %w", outcomes[0].err)
}

// trials carries out trials [from, to). Its errors are those of [execution.play].
func (x *execution) trials(ctx context.Context, from, to int) ([]outcome, error) {
	settings := make([]train.Settings, to-from)
	followers := make([]*follower, to-from)
	for k := range settings {
		settings[k] = x.plan.trial(from + k)
		followers[k] = x.meter.trial(from+k, settings[k].Privacy)
	}
	played, err := x.play(ctx, settings, followers)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, to-from)
	for k, p := range played {
		record := PrivateTrial{
			Trial:    x.plan.Private.Trials[from+k],
			Score:    p.score,
			Diverged: p.err == nil && p.model == nil,
			Seconds:  p.trace.Seconds,
			Curve:    p.trace.Curve,
		}
		if p.err != nil {
			record.Failure = p.err.Error()
		}
		outcomes[k] = outcome{record: record, model: p.model, err: p.err}
	}
	return outcomes, nil
}

// played is the outcome of one run. A run that diverged or failed has no model and scores lowest.
type played struct {
	model []train.Parameter
	score float64
	err   error
	trace train.PrivateTrace
}

// play trains models side by side and scores them on the public test set. It returns the context's error, and that of a
// lost device or of a state that can't be kept, which are no fault of a run. The error of a single run is in its
// outcome.
func (x *execution) play(ctx context.Context, settings []train.Settings, followers []*follower) ([]played, error) {
	out := make([]played, len(settings))
	group, err := x.loaded.Start(settings...)
	if err != nil && len(settings) > 1 {
		return x.playAlone(ctx, settings, followers)
	}
	if err == nil {
		err = x.trainAndScore(ctx, group, followers, out)
	}
	if err != nil {
		for i := range out {
			if out[i].err == nil {
				out[i] = played{err: err}
			}
		}
	}
	var unkept *train.KeepError
	if errors.As(err, &unkept) {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if errors.Is(out[i].err, train.ErrLost) {
			return nil, out[i].err
		}
	}
	for i := range out {
		if out[i].model == nil {
			out[i].score = lowest
		}
		followers[i].finished(out[i].score, out[i].err)
	}
	return out, nil
}

// playAlone plays one run after another, for an engine that doesn't start them together: for want of memory, or because
// of one run, which then fails alone.
func (x *execution) playAlone(ctx context.Context, settings []train.Settings, followers []*follower) ([]played, error) {
	var out []played
	for i := range settings {
		one, err := x.play(ctx, settings[i:i+1], followers[i:i+1])
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// trainAndScore trains and scores a group, fills in the outcome of each run and closes the group. Its errors concern
// all runs.
func (x *execution) trainAndScore(ctx context.Context, group *train.Group, followers []*follower, out []played) (err error) {
	defer func() { err = errors.Join(err, group.Close()) }()
	traces, err := group.TrainKept(ctx, x.Keeper, func(runs []train.Progress) {
		for i, p := range runs {
			followers[i].stepped(p)
		}
	})
	var failed train.RunErrors
	var unkept *train.KeepError
	if err != nil && (!errors.As(err, &failed) || errors.As(err, &unkept)) {
		return err
	}
	for i := range out { // all of them before any result, whose error must not hide that a device was lost
		out[i].trace = traces[i]
		if failed != nil {
			out[i].err = failed[i]
		}
	}
	var whole []int
	for i := range out {
		if out[i].err != nil {
			continue
		}
		result, err := group.Result(i)
		if err != nil {
			return err
		}
		if !result.Diverged() {
			out[i].model = result.Parameters
			whole = append(whole, i)
		}
	}
	scores, err := group.Score(ctx, x.Test, whole...)
	for k, i := range whole {
		if err != nil {
			out[i] = played{err: err}
		} else {
			out[i].score = scores[k]
		}
	}
	return nil
}
