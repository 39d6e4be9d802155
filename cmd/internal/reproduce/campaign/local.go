package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/tuner"
)

// local trains on this machine, the started runs side by side.
type local struct {
	*coordinator
	started []*run
	endings []ending
}

func (l *local) prepare(ctx context.Context, p *experiment.Plan) (string, error) {
	if err := l.cache.Load(ctx, p, l.Follower); err != nil {
		return "", fmt.Errorf("load %s: %w", p.Experiment.Dataset, err)
	}
	return p.Identity(l.Program)
}

func (l *local) room(c Cell, out int) int {
	if out > 0 {
		return 0
	}
	return l.Size(c)
}

func (l *local) start(_ context.Context, started []*run) error {
	for _, r := range started {
		if r.resumed {
			l.Follower.Note(r.job.Name() + " was cut off, and goes on")
		}
	}
	l.started = started
	return nil
}

func (l *local) next(ctx context.Context) (*ending, error) {
	if len(l.endings) == 0 {
		if err := l.train(ctx); err != nil {
			return nil, err
		}
	}
	e := l.endings[0]
	l.endings = l.endings[1:]
	if remote.OfWorker(e.err) {
		return nil, fmt.Errorf("%s: %w", e.run.job.Name(), e.err)
	}
	return &e, nil
}

// train trains the started runs.
func (l *local) train(ctx context.Context) error {
	group, plans := make([]Job, len(l.started)), make([]experiment.Job, len(l.started))
	for k, r := range l.started {
		group[k] = r.job
	}
	followers := experiment.Shares(len(group), l.Follower.Warn, func(share float64) { l.Follower.Working(group, share) })
	for k, r := range l.started {
		plans[k] = experiment.Job{Plan: r.plan, Options: experiment.Options{Key: r.key, Store: r.folder, Every: l.SaveEvery}, Follower: followers[k]}
	}
	began, before := time.Now(), processorTime()
	outcomes, err := experiment.RunAll(ctx, l.Engine, plans)
	processors := (processorTime() - before).Seconds() / time.Since(began).Seconds()
	var failed tuner.PlanErrors
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	l.endings = make([]ending, len(outcomes))
	for k, o := range outcomes {
		e := ending{run: l.started[k], processors: processors}
		if l.started[k].resumed { // the session before had another number
			e.processors = 0
		}
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
		l.endings[k] = e
	}
	return nil
}
