package tuner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/train/engine"
)

// outcome is what became of a trial.
type outcome struct {
	record PrivateTrial
	model  []train.Parameter // nil if it diverged or failed
	err    error             // why it failed
}

// tune carries out all trials. Its outcomes are in the order of the plan, whoever finished first.
func (x *execution) tune(ctx context.Context) ([]outcome, error) {
	outcomes := make([]outcome, len(x.plan.Private.Trials))
	atOnce := min(x.workers(), len(outcomes))
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range atOnce {
		group.Go(func() error {
			eng, err := x.engine(x.workers() / atOnce)
			if err != nil {
				return err
			}
			for i := int(next.Add(1) - 1); i < len(outcomes); i = int(next.Add(1) - 1) {
				outcomes[i], err = x.trial(ctx, eng, i)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
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

// trial carries out trial i. Its only errors are the context's.
func (x *execution) trial(ctx context.Context, eng engine.Engine, i int) (outcome, error) {
	settings := x.plan.trial(i)
	tell := x.meter.trial(i, settings.Privacy)
	start := time.Now()
	model, score, err := x.play(ctx, eng, settings, tell.stepped)
	if ctx.Err() != nil {
		return outcome{}, fmt.Errorf("tuning stopped: %w", ctx.Err())
	}
	tell.finished(score, err)
	record := PrivateTrial{
		Trial:           x.plan.Private.Trials[i],
		Hyperparameters: x.plan.candidate(i),
		Score:           score,
		Diverged:        err == nil && model == nil,
		Seconds:         time.Since(start).Seconds(),
	}
	if err != nil {
		record.Failure = err.Error()
	}
	return outcome{record: record, model: model, err: err}, nil
}

// play trains a model and scores it on the public test set. A run that diverges or fails leaves no
// model and scores lowest.
func (x *execution) play(ctx context.Context, eng engine.Engine, s train.Settings, stepped func(train.Progress)) (model []train.Parameter, score float64, err error) {
	trainer, err := x.trainer(eng, s)
	if err != nil {
		return nil, lowest, err
	}
	model, score, err = x.trainAndScore(ctx, trainer, stepped)
	if err := errors.Join(err, trainer.Close()); err != nil {
		return nil, lowest, err
	}
	return model, score, nil
}

func (x *execution) trainAndScore(ctx context.Context, trainer *train.Trainer, stepped func(train.Progress)) ([]train.Parameter, float64, error) {
	result, err := trainer.Train(ctx, stepped)
	if err != nil {
		return nil, lowest, err
	}
	if result.Diverged() {
		return nil, lowest, nil
	}
	score, err := trainer.Accuracy(ctx, x.Test)
	return result.Parameters, score, err
}

// trainer builds the model of a run, with the run's own initial parameters, and makes it ready.
func (x *execution) trainer(eng engine.Engine, s train.Settings) (*train.Trainer, error) {
	x.building.Lock()
	defer x.building.Unlock()
	source, err := x.Model(s.Key.Stream(random.ID{Purpose: random.Initialisation, Trial: s.Trial}))
	if err != nil {
		return nil, fmt.Errorf("build the model: %w", err)
	}
	return train.New(eng, source, x.Data.Data, s)
}
