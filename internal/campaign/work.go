package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Worker is a machine that carries out batches.
type Worker struct {
	Engine      train.Engine // trains
	Features    train.Engine // computes features of images, on the CPU
	Performance configs.Performance
	Machine     string        // engine, processor and cores, for the records
	Program     string        // SHA-256 of the program's file: a run that was cut off goes on with the same alone
	MadeBy      fmt.Stringer  // the program's version
	SaveEvery   time.Duration // between two saves of the states of runs
	Follower    Follower
}

// Follower receives the progress of a campaign. Its methods are called one at a time.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Loading reports the progress of a data set that is loaded.
	Loading(done, total float64, what string)
	// Working reports how much of the current batch is done, from 0 to 1.
	Working(batch Batch, share float64)
}

// Work carries out what a queue hands out until it is drained. If ctx is cancelled, the runs under way keep their
// states and the error is the context's. A run that fails is an outcome; the errors of Work are those of the machine: a
// lost device, a full disk, data that can't be read. After an error, the queue has the batch again.
func (s *Store) Work(ctx context.Context, q Queue, w Worker) error {
	x := &worker{s.registrar(w)}
	defer x.cache.Close()
	if err := s.destroyKeys(); err != nil {
		return err
	}
	for {
		batch, err := q.Next(ctx)
		if errors.Is(err, ErrDrained) {
			return nil
		}
		if err != nil {
			return err
		}
		outcomes, err := x.carryOut(ctx, batch)
		if err != nil {
			q.Return(batch)
			return err
		}
		if err := q.Report(ctx, batch, outcomes); err != nil {
			return err
		}
	}
}

// worker is a call of Work.
type worker struct{ *registrar }

// carryOut carries out a batch.
func (x *worker) carryOut(ctx context.Context, batch Batch) (outcomes []Outcome, err error) {
	outcomes, started, err := x.begin(ctx, batch)
	defer func() { err = errors.Join(err, release(started)) }()
	if err != nil || len(started) == 0 {
		return outcomes, err
	}
	results, failed, err := x.train(ctx, batch, started)
	if err != nil {
		return nil, errors.Join(err, stop(started, err))
	}
	var anew Batch
	for k, b := range started {
		why := error(nil)
		if failed != nil {
			why = failed[k]
		}
		outcome, again, err := x.end(b, results[k], why)
		if err != nil {
			return nil, errors.Join(err, stop(started[k:], err))
		}
		if outcomes[b.number] = outcome; again {
			anew = append(anew, b.task)
		}
	}
	if len(anew) == 0 {
		return outcomes, nil
	}
	more, err := x.carryOut(ctx, anew)
	for _, o := range more {
		outcomes[slices.Index(batch, o.Task)] = o
	}
	return outcomes, err
}

// begin returns the runs of a batch's tasks, with data and folders, and the outcomes of tasks that can't have one.
func (x *worker) begin(ctx context.Context, batch Batch) (outcomes []Outcome, started []begun, err error) {
	outcomes = make([]Outcome, len(batch))
	for k, t := range batch {
		outcomes[k].Task = t
		plan, err := x.settled(t)
		if infeasible(err) {
			outcomes[k].Err = err
			continue
		}
		if err == nil {
			if err = x.cache.Load(ctx, plan, loading{x.Follower}); err != nil {
				err = fmt.Errorf("load %s: %w", t.Dataset, err)
			}
		}
		if err != nil {
			return nil, started, fmt.Errorf("%s: %w", t.Name(), err)
		}
		folder, resumed, err := x.folder(t, plan)
		if err != nil {
			return nil, started, fmt.Errorf("%s: %w", t.Name(), err)
		}
		if resumed {
			x.Follower.Note(t.Name() + " was cut off, and goes on")
		}
		started = append(started, begun{t, k, plan, folder, resumed})
	}
	return outcomes, started, nil
}

// loading shows the progress of a data set that is loaded.
type loading struct{ Follower }

func (l loading) Progress(done, total float64, what string) { l.Loading(done, total, what) }
func (loading) Tuning(tuner.PrivateProgress)                {}

// train records the releases of all runs and trains them. The errors of single runs are in failed, which is nil if
// there are none.
func (x *worker) train(ctx context.Context, batch Batch, started []begun) (results []experiment.Outcome, failed tuner.PlanErrors, err error) {
	for _, b := range started {
		if b.folder.Record.Key, err = b.plan.Identity(x.Program); err != nil {
			return nil, nil, err
		}
	}
	keys, err := x.register(ctx, started)
	if err != nil {
		return nil, nil, err
	}
	items := make([]experiment.Item, len(started))
	followers := experiment.Shares(len(batch), x.Follower.Warn, func(share float64) { x.Follower.Working(batch, share) })
	for k, b := range started {
		items[k] = experiment.Item{Plan: b.plan, Job: experiment.Job{Key: keys[k], Store: b.folder, Every: x.SaveEvery}, Follower: followers[k]}
	}
	results, err = experiment.RunAll(ctx, x.Engine, items)
	if errors.As(err, &failed) {
		err = nil
	}
	return results, failed, err
}

// end files what a run came to. If it can't go on here, it is moved away, and is to be begun again.
func (x *worker) end(b begun, o experiment.Outcome, why error) (outcome Outcome, again bool, err error) {
	outcome.Task = b.task
	switch {
	case why == nil:
		outcome.Result, err = x.finish(b, o)
	case remote.OfMachine(why):
		err = fmt.Errorf("%s: %w", b.task.Name(), why)
	case b.resumed && (errors.Is(why, train.ErrOtherRun) || errors.Is(why, train.ErrState)):
		again, err = true, x.giveUp(b, why)
	default:
		outcome.Err, err = why, x.failed(b, why)
	}
	return outcome, again, err
}

// giveUp moves a run away that was cut off and can't go on here: on another engine, or with a damaged state.
func (x *worker) giveUp(b begun, why error) error {
	x.Follower.Note(fmt.Sprintf("%s was cut off, and can't go on here: %v; it begins anew, as another release", b.task.Name(), why))
	return errors.Join(b.folder.Stop(why.Error()), moveAside(b.folder.Dir(), cutOffSuffix))
}

// finish writes what a run releases.
func (x *worker) finish(b begun, o experiment.Outcome) (Result, error) {
	private, err := o.PrivateJSON()
	if err != nil {
		return Result{}, err
	}
	h, score := o.Release.Hyperparameters, o.Release.Score
	return finished(b, runs.Score{Metric: string(score.Metric), Value: score.Value}, h.LearningRate, h.TunedLearningRate, private, o.Release.Write)
}
