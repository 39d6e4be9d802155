package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/tuner"
)

// local trains on this machine: the runs that were started, side by side.
type local struct {
	*worker
	started  []*begun
	outcomes []ended
}

func (l *local) prepare(ctx context.Context, p *experiment.Plan) (string, error) {
	if err := l.cache.Load(ctx, p, loading{l.Follower}); err != nil {
		return "", fmt.Errorf("load %s: %w", p.Experiment.Dataset, err)
	}
	return p.Identity(l.Program)
}

// loading shows the progress of a data set that is loaded.
type loading struct{ Follower }

func (l loading) Progress(done, total float64, what string) { l.Loading(done, total, what) }
func (loading) Tuning(tuner.PrivateProgress)                {}

func (l *local) room(c Cell, out int) int {
	if out > 0 {
		return 0
	}
	return l.Size(c)
}

func (l *local) start(_ context.Context, started []*begun) error {
	for _, b := range started {
		if b.resumed {
			l.Follower.Note(b.task.Name() + " was cut off, and goes on")
		}
	}
	l.started = started
	return nil
}

func (l *local) next(ctx context.Context) (*ended, error) {
	if len(l.outcomes) == 0 {
		if err := l.train(ctx); err != nil {
			return nil, err
		}
	}
	e := l.outcomes[0]
	l.outcomes = l.outcomes[1:]
	if remote.OfMachine(e.err) {
		return nil, fmt.Errorf("%s: %w", e.run.task.Name(), e.err)
	}
	return &e, nil
}

// train trains the runs that were started.
func (l *local) train(ctx context.Context) error {
	batch, items := make([]Task, len(l.started)), make([]experiment.Item, len(l.started))
	for k, b := range l.started {
		batch[k] = b.task
	}
	followers := experiment.Shares(len(batch), l.Follower.Warn, func(share float64) { l.Follower.Working(batch, share) })
	for k, b := range l.started {
		items[k] = experiment.Item{Plan: b.plan, Job: experiment.Job{Key: b.key, Store: b.folder, Every: l.SaveEvery}, Follower: followers[k]}
	}
	results, err := experiment.RunAll(ctx, l.Engine, items)
	var failed tuner.PlanErrors
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	l.outcomes = make([]ended, len(results))
	for k, o := range results {
		e := ended{run: l.started[k]}
		if failed != nil {
			e.err = failed[k]
		}
		if e.err == nil {
			h, score := o.Release.Hyperparameters, o.Release.Score
			e.score, e.rate, e.tuned = runs.Score{Metric: string(score.Metric), Value: score.Value}, h.LearningRate, h.TunedLearningRate
			e.write = o.Release.Write
			if e.private, err = o.PrivateJSON(); err != nil {
				return err
			}
		}
		l.outcomes[k] = e
	}
	return nil
}
