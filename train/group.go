package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dptrain/dptrain/train/engine"
)

// Group is training runs side by side, numbered as they were started. Its methods are not safe for concurrent use.
// After Close their errors wrap [ErrClosed], but for those of the [Loaded].
type Group struct {
	*Loaded
	runs     engine.Runs
	settings []prepared
	training atomic.Bool // Train's steps are under way
	closed   bool
}

// check returns an error where the group, or one of the runs, can't be used. Every method begins with it, so that no
// engine meets a call after Close.
func (g *Group) check(runs ...int) error {
	switch {
	case g == nil || g.runs == nil:
		return &SettingError{"group", "missing", "one that Loaded.Start returned"}
	case g.training.Load():
		return fmt.Errorf("the group is %w: it trains; wait until Train returns", ErrInUse)
	case g.closed:
		return fmt.Errorf("the group is %w; start another one", ErrClosed)
	}
	for _, i := range runs {
		if i < 0 || i >= len(g.settings) {
			return &SettingError{"run", i, fmt.Sprintf("0 to %d", len(g.settings)-1)}
		}
	}
	return nil
}

// RunErrors tells which runs of a group failed: element i is run i's error, or nil.
type RunErrors = engine.RunErrors

// errNoContext is the error of a missing context.
var errNoContext = &SettingError{"context", nil, "one; context.Background() is never cancelled"}

// polled is how often a group looks how far its runs are.
const polled = 100 * time.Millisecond

// Train takes all steps that are left. It calls progress, which may be nil, several times a second and at the end, with
// how far each run is. A run that fails stops where it is and keeps no other from its steps; the error is then a
// [RunErrors]. On a cancelled context every run stops after a whole step, and the error is the context's; Train may be called again.
func (g *Group) Train(ctx context.Context, progress func([]Progress)) error {
	if ctx == nil {
		return errNoContext
	}
	if err := g.check(); err != nil {
		return err
	}
	left := make([]int, len(g.settings))
	for i, done := range g.runs.Done() {
		left[i] = g.settings[i].Privacy.Steps - done
	}
	ended := make(chan error, 1)
	g.training.Store(true)
	go func() { ended <- g.runs.Steps(ctx, left...) }()
	tick := time.NewTicker(polled)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if progress != nil {
				progress(g.progress())
			}
		case err := <-ended:
			g.training.Store(false)
			if progress != nil {
				progress(g.progress())
			}
			return err
		}
	}
}

func (g *Group) progress() []Progress {
	out := make([]Progress, len(g.settings))
	for i, done := range g.runs.Done() {
		out[i] = Progress{Step: done, Steps: g.settings[i].Privacy.Steps}
	}
	return out
}

// Result returns what a run that has taken all its steps gives. It is an error to ask before.
func (g *Group) Result(run int) (Result, error) {
	if err := g.check(run); err != nil {
		return Result{}, err
	}
	state := g.runs.State(run)
	s := g.settings[run]
	if state.Step != s.Privacy.Steps {
		// A device that was lost since says so when it is asked for no steps.
		var failed RunErrors
		if err := g.runs.Steps(context.Background(), make([]int, len(g.settings))...); errors.As(err, &failed) && failed[run] != nil {
			return Result{}, failed[run]
		}
		return Result{}, fmt.Errorf("run %d is at step %d of %d: it has no result yet", run, state.Step, s.Privacy.Steps)
	}
	parameters := make([]Parameter, len(g.program.Params))
	for i, values := range g.layout.Split(state.Params) {
		p := g.program.Params[i]
		parameters[i] = Parameter{Name: p.Name, Shape: slices.Clone(p.Shape), Values: values}
	}
	return Result{Parameters: parameters, Event: s.mechanism.Event()}, nil
}

// Score returns, for each of the given runs, how well the model does on public test samples at its current parameters, by
// their metric. Outputs that aren't numbers are as bad as can be. On the training samples it would be a private statistic.
func (g *Group) Score(ctx context.Context, test Labelled, runs ...int) ([]float64, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := g.check(runs...); err != nil {
		return nil, err
	}
	if err := g.CheckTest(test); err != nil {
		return nil, err
	}
	outputs, err := g.runs.Predict(ctx, &test.Inputs().columns, runs...)
	if err != nil {
		return nil, fmt.Errorf("predict the test set: %w", err)
	}
	out := make([]float64, len(runs))
	for i := range out {
		out[i] = test.score(outputs[i])
	}
	return out, nil
}

// Predict returns, for each of the given runs at its current parameters, the model's output for every sample: the values
// of one after those of the other. What is in columns that the output doesn't depend on, such as labels, doesn't matter. On
// the training samples it would be a private statistic.
func (g *Group) Predict(ctx context.Context, data *Data, runs ...int) ([][]float32, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := g.check(runs...); err != nil {
		return nil, err
	}
	if data == nil || data.digest == nil {
		return nil, &DataError{"no data; make them by NewData"}
	}
	out, err := g.runs.Predict(ctx, &data.columns, runs...)
	var wrong *engine.FieldError
	if errors.As(err, &wrong) {
		err = &DataError{wrong.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return out, nil
}

// State returns a copy of a run's state.
func (g *Group) State(run int) (State, error) {
	if err := g.check(run); err != nil {
		return State{}, err
	}
	s, inner := g.settings[run], g.runs.State(run)
	return State{run: s.identity.derive(s.Key, "state"), inner: tensors{
		Step: inner.Step, Params: g.layout.Split(inner.Params), First: g.layout.Split(inner.First), Second: g.layout.Split(inner.Second),
	}}, nil
}

// Restore takes a run to a state that the same run was in before: same settings, initial values among them, same key, same
// model and data, on an engine of the same arithmetic. What follows is then the same to the last byte as if it had never stopped.
func (g *Group) Restore(run int, s State) error {
	if err := g.check(run); err != nil {
		return err
	}
	own := g.settings[run]
	if s.run != own.identity.derive(own.Key, "state") {
		return errors.New("the state belongs to a run with other settings, key, model, data, initial values or engine: resume with the same ones (a graph that draws its values has others each time it is built: give Settings.Initial)")
	}
	inner, err := s.inner.laidOut(g.layout)
	if err != nil {
		return err
	}
	if inner.Step > own.Privacy.Steps {
		return fmt.Errorf("the state is at step %d of a run of %d", inner.Step, own.Privacy.Steps)
	}
	if err := g.runs.Restore(run, inner); err != nil {
		return fmt.Errorf("restore step %d: %w", inner.Step, err)
	}
	return nil
}

// Close gives back what the runs hold on the device. A second Close does nothing.
func (g *Group) Close() error {
	if g == nil || g.runs == nil || g.closed {
		return nil
	}
	if err := g.check(); err != nil {
		return err
	}
	g.closed = true
	defer g.groups.leave()
	return g.runs.Close()
}
