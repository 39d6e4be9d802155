package train

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/internal/engine"
)

// Trainer is one training run: a [Group] of one. Make one by [New]. Its methods may be called concurrently and run one
// after another. During Train, however, all of them, even Close, return at once an error that wraps [ErrInUse]. After
// Close their errors wrap [ErrClosed].
type Trainer struct {
	group *Group
}

// New compiles the model, checks settings and data against it, and starts a run on the engine. It returns the errors of
// [Load] and [Loaded.Start].
func New(e Engine, model Model, data *Data, s Settings) (*Trainer, error) {
	loaded, err := Load(e, model, data)
	if err != nil {
		return nil, err
	}
	group, err := loaded.Start(s)
	if err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return &Trainer{group}, nil
}

// Train takes the steps that are left and returns the result. It calls progress, which may be nil, several times a
// second and at the end. If ctx is cancelled, Train stops after a whole step and returns the context's error.
// [Trainer.State] then returns the state to resume from, and Train may be called again.
func (t *Trainer) Train(ctx context.Context, progress func(Progress)) (Result, error) {
	var only func([]Progress)
	if progress != nil {
		only = func(runs []Progress) { progress(runs[0]) }
	}
	err := t.group.Train(ctx, only)
	if failed, ok := errors.AsType[RunErrors](err); ok {
		return Result{}, failed[0]
	}
	if err != nil {
		return Result{}, err
	}
	return t.group.Result(0)
}

// Score returns the model's score on public test samples: see [Group.Score].
func (t *Trainer) Score(ctx context.Context, test Labelled) (float64, error) {
	score, err := t.group.Score(ctx, test, 0)
	if err != nil {
		return 0, err
	}
	return score[0], nil
}

// Predict returns the model's outputs for all samples: see [Group.Predict].
func (t *Trainer) Predict(ctx context.Context, data *Data) ([]float32, error) {
	out, err := t.group.Predict(ctx, data, 0)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// State returns a copy of the run's state.
func (t *Trainer) State() (State, error) { return t.group.State(0) }

// Restore replaces the run's state: see [Group.Restore].
func (t *Trainer) Restore(s State) error { return t.group.Restore(0, s) }

// Close frees the memory of run, model and data on the device. A second Close does nothing.
func (t *Trainer) Close() error { return errors.Join(t.group.Close(), t.group.model.Close()) }

// Engine trains models on one kind of device. Make one by cpu.New or cuda.New. [FirstOf] combines several. All engines
// draw the same minibatches and noise and keep the same bound on the sensitivity of a step. They differ in speed, in
// the rounding of gradients, and in the operations that they support.
type Engine = engine.Engine

// FirstOf returns an engine that loads each model on the first of the given engines that supports it. [Loaded.Fallback]
// returns why the engines before it didn't. FirstOf copies the list.
func FirstOf(engines ...Engine) Engine { return engine.FirstOf(engines...) }

// UnsupportedError reports an operation of a model that an engine doesn't support; another engine may. Its field Engine
// is the name of the engine, Operation the name of the operation, and Why the reason, which may be empty.
type UnsupportedError = engine.UnsupportedError

// ErrLost is wrapped by the errors of runs whose device failed. Such a run can't continue, even from a restored state.
var ErrLost = engine.ErrLost

// RunErrors reports the runs of a group that failed: element i is the error of run i, or nil.
type RunErrors = engine.RunErrors
