package tuner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/train/engine"
)

// Executor carries out plans on this machine, trials side by side.
type Executor struct {
	// Engine makes an engine with the workers that it may use: one engine for the trials that follow
	// each other, so many side by side, then one for the final run.
	Engine func(train.Performance) (engine.Engine, error)
	// Model builds the model. Every trial and the final run begin with initial parameters of their
	// own, as in the paper. It is never called concurrently.
	Model train.Builder
	// Data is X, Test the public test set that selects.
	Data, Test *train.Classification
	// Performance is shared out between trials: it never changes the result.
	Performance train.Performance
	// Progress, unless nil, is called for each turn of events, never concurrently.
	Progress func(PrivateProgress)
}

// ErrDiverged says that there is no finite model to release. The budget is spent all the same.
var ErrDiverged = errors.New("training diverged: parameters aren't finite; try smaller learning rates")

// Run carries out a plan. A plan that isn't what [NewPlan] draws from its settings and key is an error
// before anything is trained, and so are settings, model, data and test set that don't fit together. On a
// cancelled context it stops every run after a whole step and returns the context's error.
//
// A trial that fails scores lowest and tuning goes on; only if every trial fails does Run, with the
// first one's error. If no finite model comes out the error is [ErrDiverged].
func (e Executor) Run(ctx context.Context, plan Plan) (Result, error) {
	plan, err := plan.redraw()
	if err != nil {
		return Result{}, err
	}
	x := &execution{Executor: e, plan: plan}
	if err := x.check(); err != nil {
		return Result{}, err
	}
	x.meter = newMeter(plan, e.Progress)
	trials, err := x.tune(ctx)
	if err != nil {
		return Result{}, err
	}
	best := selectBest(trials)
	if plan.Settings.Method == Baseline {
		return x.release(ctx, trials, best)
	}
	return x.trainFinal(ctx, trials, best)
}

// execution is one run of an executor.
type execution struct {
	Executor
	plan     Plan
	meter    *meter
	building sync.Mutex // Gorgonia doesn't promise that graphs can be built side by side
}

// check starts the final run of the first candidate and drops it again, so that what can't work at all
// fails before hours of training.
func (x *execution) check() error {
	if err := x.Performance.Validate(); err != nil {
		return err
	}
	if n := x.plan.Settings.Samples; x.Data.Samples() != n {
		return &train.SettingError{Setting: "number of samples", Value: n, Want: fmt.Sprintf("the data's %d", x.Data.Samples())}
	}
	eng, err := x.engine(x.workers())
	if err != nil {
		return err
	}
	trainer, err := x.trainer(eng, x.plan.final(x.plan.Settings.Space[0]))
	if err != nil {
		return err
	}
	return errors.Join(trainer.CheckTest(x.Test), trainer.Close())
}

func (x *execution) workers() int {
	if x.Performance.Workers > 0 {
		return x.Performance.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (x *execution) engine(workers int) (engine.Engine, error) {
	p := x.Performance
	p.Workers = workers
	eng, err := x.Engine(p)
	if err != nil {
		return nil, fmt.Errorf("make an engine: %w", err)
	}
	return eng, nil
}
