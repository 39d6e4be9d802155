package tuner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/train"
)

// outcome is what became of a trial.
type outcome struct {
	record PrivateTrial
	model  []train.Parameter // nil if it diverged or failed, or another is better
	err    error             // why it failed
}

// mostAtOnce is the number of trials that an engine is handed at once. Few tuning runs draw more; those that do must not
// hold the state of all at the same time.
const mostAtOnce = 64

// tune carries out all trials. Its outcomes are in the order of the plan, whoever finished first. Only the best one has
// its model still.
func (x *execution) tune(ctx context.Context) ([]outcome, error) {
	trials := len(x.plan.Private.Trials)
	outcomes := make([]outcome, 0, trials)
	for len(outcomes) < trials {
		first := len(outcomes)
		group, err := x.trials(ctx, first, min(first+mostAtOnce, trials))
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
	}
	return outcomes, anySucceeded(outcomes)
}

// anySucceeded returns an error if there were trials and every one failed.
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

// trials carries out trials [from, to). Its errors are those of play.
func (x *execution) trials(ctx context.Context, from, to int) ([]outcome, error) {
	settings := make([]train.Settings, to-from)
	tellers := make([]*teller, to-from)
	for k := range settings {
		settings[k] = x.plan.trial(from + k)
		tellers[k] = x.meter.trial(from+k, settings[k].Privacy)
	}
	played, err := x.play(ctx, settings, tellers)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, to-from)
	for k, p := range played {
		record := PrivateTrial{
			Trial:    x.plan.Private.Trials[from+k],
			Score:    p.score,
			Diverged: p.err == nil && p.model == nil,
			Seconds:  p.seconds,
		}
		if p.err != nil {
			record.Failure = p.err.Error()
		}
		outcomes[k] = outcome{record: record, model: p.model, err: p.err}
	}
	return outcomes, nil
}

// played is what came of one run. A run that diverged or failed leaves no model and scores lowest.
type played struct {
	model   []train.Parameter
	score   float64
	err     error
	seconds float64 // of its steps, as far as anybody looked
}

// play trains models side by side and scores them on the public test set. Its errors are the context's, and that of a
// device that is lost, which is no trial's fault: what goes wrong with a run is in its outcome.
func (x *execution) play(ctx context.Context, settings []train.Settings, tellers []*teller) ([]played, error) {
	out := make([]played, len(settings))
	group, err := x.loaded.Start(settings...)
	if err != nil && len(settings) > 1 {
		return x.playAlone(ctx, settings, tellers)
	}
	if err == nil {
		err = x.trainAndScore(ctx, group, tellers, out)
	}
	if err != nil {
		for i := range out {
			if out[i].err == nil {
				out[i] = played{err: err}
			}
		}
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
		tellers[i].finished(out[i].score, out[i].err)
	}
	return out, nil
}

// playAlone plays one run after another where an engine doesn't take them together: for want of memory, or because of one
// of them, which then fails alone.
func (x *execution) playAlone(ctx context.Context, settings []train.Settings, tellers []*teller) ([]played, error) {
	var out []played
	for i := range settings {
		one, err := x.play(ctx, settings[i:i+1], tellers[i:i+1])
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// trainAndScore fills in what comes of each run of a group, and closes it; its errors are everybody's.
func (x *execution) trainAndScore(ctx context.Context, group *train.Group, tellers []*teller, out []played) (err error) {
	defer func() { err = errors.Join(err, group.Close()) }()
	watch := newStopwatch(len(out))
	err = group.Train(ctx, func(runs []train.Progress) {
		watch.look(runs)
		for i, p := range runs {
			tellers[i].stepped(p)
		}
	})
	var failed train.RunErrors
	if !errors.As(err, &failed) && err != nil {
		return err
	}
	var whole []int
	for i := range out {
		out[i].seconds = watch.seconds[i]
		if failed != nil && failed[i] != nil {
			out[i].err = failed[i]
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

// stopwatch takes the times of runs that begin and end between two looks.
type stopwatch struct {
	last    time.Time
	seconds []float64 // of each run so far
	steps   []int
}

func newStopwatch(runs int) *stopwatch {
	return &stopwatch{last: time.Now(), seconds: make([]float64, runs), steps: make([]int, runs)}
}

// look adds the time since the last look to the runs that have moved.
func (w *stopwatch) look(runs []train.Progress) {
	now := time.Now()
	for i, p := range runs {
		if p.Step > w.steps[i] {
			w.seconds[i] += now.Sub(w.last).Seconds()
			w.steps[i] = p.Step
		}
	}
	w.last = now
}
