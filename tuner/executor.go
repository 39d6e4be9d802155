package tuner

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// Executor carries out plans on one engine, trials side by side as the engine sees fit.
type Executor struct {
	Engine train.Engine
	// Model is compiled once. Every trial and the final run begin with initial parameters of their own, as in the paper,
	// if Model draws them.
	Model train.Model
	// Data is X with its labels, Test the public test set that selects.
	Data *train.Data
	Test train.Labelled
	// Progress, unless nil, is called for each turn of events, never concurrently.
	Progress func(PrivateProgress)
	// Fallback, unless nil, is called with the reason if the engine fell back on a slower one: see
	// [train.Loaded.Fallback].
	Fallback func(reason error)
}

// Run carries out a plan. A plan that isn't what [NewPlan] draws from its settings and key is an error
// before anything is trained, and so are settings, model, data and test set that don't fit together. On a
// cancelled context it stops every run after a whole step and returns the context's error.
//
// A trial that fails scores lowest and tuning goes on; only if every trial fails does Run, with the
// first one's error. If no finite model comes out the error is [train.ErrDiverged].
func (e Executor) Run(ctx context.Context, plan Plan) (Result, error) {
	if ctx == nil {
		return Result{}, &train.SettingError{Setting: "context", Want: "one; context.Background() is never cancelled"}
	}
	plan, err := plan.redraw()
	if err != nil {
		return Result{}, err
	}
	x := &execution{Executor: e, plan: plan}
	if err := x.load(); err != nil {
		return Result{}, err
	}
	result, err := x.run(ctx)
	if err := errors.Join(err, x.loaded.Close()); err != nil {
		return Result{}, err
	}
	return result, nil
}

// execution is one run of an executor.
type execution struct {
	Executor
	plan   Plan
	loaded *train.Loaded
	meter  *meter
}

// load makes the model and the data ready. It starts the final run of the first candidate and drops it again, so that
// what can't work at all fails before hours of training.
func (x *execution) load() error {
	if x.Data == nil {
		return &train.SettingError{Setting: "data", Want: "some, such as train.NewClassification makes"}
	}
	if n := x.plan.Settings.Samples; x.Data.Samples() != n {
		return &train.SettingError{Setting: "number of samples", Value: n, Want: fmt.Sprintf("the data's %d", x.Data.Samples())}
	}
	loaded, err := train.Load(x.Engine, x.Model, x.Data)
	if err != nil {
		return err
	}
	x.loaded = loaded
	if err := x.check(); err != nil {
		return errors.Join(err, loaded.Close())
	}
	if reason := loaded.Fallback(); reason != nil && x.Fallback != nil {
		x.Fallback(reason)
	}
	return nil
}

func (x *execution) check() error {
	if err := x.loaded.CheckTest(x.Test); err != nil {
		return err
	}
	group, err := x.loaded.Start(x.plan.final(x.plan.First))
	if err != nil {
		return err
	}
	return group.Close()
}

func (x *execution) run(ctx context.Context) (Result, error) {
	x.meter = newMeter(x.plan, x.Progress)
	trials, err := x.tune(ctx)
	if err != nil {
		return Result{}, err
	}
	best := selectBest(trials)
	if x.plan.Settings.Method == Baseline {
		return x.release(ctx, trials, best)
	}
	return x.trainFinal(ctx, trials, best)
}
