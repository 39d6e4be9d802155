package tuner

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// Executor carries out plans on one engine, which trains the trials side by side.
type Executor struct {
	Engine train.Engine
	// Model is compiled once. If it has a function Initial, each trial and the final run draw their own initial
	// parameters, as in the paper.
	Model train.Model
	// Data is X with its labels. Test is the public test set: the model with the best score on it wins.
	Data *train.Data
	Test train.Labelled
	// Progress is called with each event, one call at a time. It may be nil.
	Progress func(PrivateProgress)
	// Keeper keeps what is done, so that Run in another process, with the same plan and the rest of the Executor, goes
	// on from there and returns the same Released.
	Keeper train.Keeper
	// If Fallback isn't nil and [train.Loaded.Fallback] returns a reason, Fallback is called with it.
	Fallback func(reason error)
}

// Run carries out a plan. Before any training Run checks that [NewPlan] draws the same plan from its settings and key,
// and that settings, model, data and test set fit together. If ctx is cancelled, Run stops every run after a whole step
// and returns the context's error.
//
// If the Keeper's store has an earlier call's work, Run goes on from it. If that call had another plan, model, data,
// test set or engine arithmetic, the error wraps [train.ErrOtherRun], and nothing is trained.
//
// A trial that fails gets the lowest score, and tuning goes on. If all trials fail, Run returns the first trial's
// error. If there is no finite model to release, the error of Run wraps [train.ErrDiverged].
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

// execution is the state of one call of Run.
type execution struct {
	Executor
	plan   Plan
	loaded *train.Loaded
	meter  *meter
}

// load loads the model and the data. It starts the final run of the first candidate and closes it again, so that a
// final run that can't start fails before hours of training.
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
	if err := group.Close(); err != nil {
		return err
	}
	fingerprint, err := x.loaded.Fingerprint(x.Test)
	if err != nil {
		return err
	}
	if fingerprint["plan"], err = x.plan.digest(); err != nil {
		return err
	}
	return x.Keeper.Check(fingerprint)
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
