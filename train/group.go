package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// Group is a set of runs that train side by side. Their numbers are the positions of their settings, from 0. Make one
// by [Loaded.Start]. Its methods may be called concurrently and run one after another. During Train, however, all of
// them, even Close, return at once an error that wraps [ErrInUse]. After Close their errors wrap [ErrClosed].
type Group struct {
	model    *Loaded
	runs     engine.Runs
	shown    engine.Runs // one run that predicts by averages; nil until there is one
	settings []prepared
	mu       sync.Mutex // held by methods other than Train
	training bool       // Train is at work
	closed   bool
}

// begin locks the group until end is called. The error reports an unusable group, or the number of a run that doesn't
// exist. Every method but Train begins with it, so that no engine is called after Close or by two methods at once: a
// Close on a signal, say, would free the memory that steps are reading.
func (g *Group) begin(runs ...int) (end func(), err error) {
	g.mu.Lock()
	switch {
	case g.training:
		err = fmt.Errorf("the group is %w: it trains; wait until Train returns", ErrInUse)
	case g.closed:
		err = fmt.Errorf("the group is %w; start another one", ErrClosed)
	}
	for _, i := range runs {
		if err == nil && (i < 0 || i >= len(g.settings)) {
			err = &SettingError{"run", i, fmt.Sprintf("0 to %d", len(g.settings)-1)}
		}
	}
	if err != nil {
		g.mu.Unlock()
		return nil, err
	}
	return g.mu.Unlock, nil
}

// beginSteps makes other methods return an error until end is called. They don't wait, because steps take long and call
// the caller's functions.
func (g *Group) beginSteps() (end func(), err error) {
	unlock, err := g.begin()
	if err != nil {
		return nil, err
	}
	defer unlock()
	g.training = true
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.training = false
	}, nil
}

// polled is the interval at which Train reads the progress of its runs.
const polled = 100 * time.Millisecond

// Train takes all steps that are left. It calls progress, which may be nil, with the progress of each run, several
// times a second and at the end. If a run fails, the others go on, and the error is a [RunErrors]. If ctx is cancelled,
// every run stops after a whole step, and Train returns the context's error; Train may then be called again.
func (g *Group) Train(ctx context.Context, progress func([]Progress)) error {
	return g.train(ctx, nil, progress)
}

// train is Train until each run has taken the given number of steps in total. Nil means all steps.
func (g *Group) train(ctx context.Context, until []int, progress func([]Progress)) error {
	end, err := g.beginSteps()
	if err != nil {
		return err
	}
	left := make([]int, len(g.settings))
	for i, done := range g.runs.Done() {
		left[i] = g.settings[i].Privacy.Steps - done
		if until != nil {
			left[i] = max(0, min(left[i], until[i]-done))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended, running := make(chan error, 1), true
	go func() { ended <- g.runs.Steps(ctx, left...) }()
	defer func() {
		cancel()
		if running { // progress panicked: the runs must not go on unseen
			<-ended
		}
		end()
	}()
	tick := time.NewTicker(polled)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if progress != nil {
				progress(g.progress())
			}
		case err := <-ended:
			running = false
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

// Result returns the result of a run that has taken all its steps, and an error for a run that hasn't.
func (g *Group) Result(run int) (Result, error) {
	end, err := g.begin(run)
	if err != nil {
		return Result{}, err
	}
	defer end()
	state := g.runs.State(run)
	s := g.settings[run]
	if state.Step != s.Privacy.Steps {
		// A device lost in the meantime is reported by a call for no steps.
		err := g.runs.Steps(context.Background(), make([]int, len(g.settings))...)
		if failed, ok := errors.AsType[RunErrors](err); ok && failed[run] != nil {
			return Result{}, failed[run]
		}
		return Result{}, fmt.Errorf("run %d is at step %d of %d: it has no result yet", run, state.Step, s.Privacy.Steps)
	}
	parameters := make([]Parameter, len(g.model.program.Params))
	for i, values := range g.model.layout.Split(slices.Clone(s.mover.released(state.Params))) {
		p := g.model.program.Params[i]
		parameters[i] = Parameter{Name: p.Name, Shape: slices.Clone(p.Shape), Values: values}
	}
	return Result{Parameters: parameters, Event: s.Privacy.Event()}, nil
}

// Score returns, for each given run, the score of its model with its current parameters, or their average if its
// optimizer averages them, on public test samples, or with noise on private ones that no run trains on: see [HeldOut].
// Without further steps a second score is the same. The metric is test.Metric. A sample with a NaN among its logits
// counts as wrong, and an R² that isn't finite becomes the lowest finite float64. On training samples the score would
// be a private statistic.
func (g *Group) Score(ctx context.Context, test Labelled, runs ...int) ([]float64, error) {
	end, err := g.begin(runs...)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := g.model.CheckTest(test); err != nil {
		return nil, err
	}
	if err := g.checkHeldOut(test, runs); err != nil {
		return nil, err
	}
	outputs, err := g.predict(ctx, &test.Inputs().columns, runs...)
	if err != nil {
		return nil, fmt.Errorf("predict the test set: %w", err)
	}
	out := make([]float64, len(runs))
	for i, run := range runs {
		switch test := test.(type) {
		case *HeldOut:
			out[i] = test.noisyScore(outputs[i], g.model.data.Samples(), g.scoreNoise(test, run))
		case *Measured:
			if out[i], err = test.measure(outputs[i]); err != nil {
				return nil, err
			}
		default:
			out[i] = test.score(outputs[i])
		}
	}
	return out, nil
}

// checkHeldOut returns an error if one of the runs trains on samples that test holds out.
func (g *Group) checkHeldOut(test Labelled, runs []int) error {
	heldOut, ok := test.(*HeldOut)
	if !ok {
		return nil
	}
	for _, run := range runs {
		if err := heldOut.checkRun(g.model.data.digest(), g.settings[run].Members); err != nil {
			return fmt.Errorf("score on held-out samples: %w", err)
		}
	}
	return nil
}

// scoreNoise returns the stream of the noise of a run's score after the steps that it has taken.
func (g *Group) scoreNoise(test *HeldOut, run int) *random.Stream {
	s := g.settings[run]
	id := binary.LittleEndian.AppendUint64(slices.Clone(s.identity[:]), uint64(g.runs.Done()[run]))
	return test.stream(s.Key, "a run", id)
}

// Predict returns, for each given run, the outputs of its model with its current parameters, or their average if its
// optimizer averages them, sample after sample. It ignores columns that the output doesn't depend on, such as labels.
// Outputs for training samples are private.
func (g *Group) Predict(ctx context.Context, data *Data, runs ...int) ([][]float32, error) {
	end, err := g.begin(runs...)
	if err != nil {
		return nil, err
	}
	defer end()
	if data == nil || data.digest == nil {
		return nil, &DataError{"no data; make them by NewData"}
	}
	out, err := g.predict(ctx, &data.columns, runs...)
	if wrong, ok := errors.AsType[*engine.FieldError](err); ok {
		err = &DataError{wrong.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return out, nil
}

// State returns a copy of a run's state.
func (g *Group) State(run int) (State, error) {
	end, err := g.begin(run)
	if err != nil {
		return State{}, err
	}
	defer end()
	s, inner := g.settings[run], g.runs.State(run)
	privacy := s.Privacy
	privacy.Steps = 0
	return State{run: s.identity.derive(s.Key, "state"), privacy: privacy, inner: tensors{
		Step: inner.Step, Params: g.model.layout.Split(inner.Params), First: g.model.layout.Split(inner.First), Second: g.model.layout.Split(inner.Second),
		Own: s.mover.save(), Updates: s.mover.taken(inner.Step), Pending: s.mover.waiting(),
	}}, nil
}

// Restore replaces a run's state by an earlier or later state of the same run, that is, of a run with the same
// settings, key, initial values, model and data on an engine of the same arithmetic. The run then continues bit for bit
// as the run that the state was taken from.
func (g *Group) Restore(run int, s State) error {
	end, err := g.begin(run)
	if err != nil {
		return err
	}
	defer end()
	own := g.settings[run]
	if s.run != own.identity.derive(own.Key, "state") {
		return fmt.Errorf("%w: resume with the same ones (a graph that draws its values has others each time it is built: give Settings.Initial)", ErrOtherRun)
	}
	inner, err := s.inner.laidOut(g.model.layout)
	if err != nil {
		return err
	}
	if inner.Step > own.Privacy.Steps {
		return fmt.Errorf("the state is at step %d of a run of %d", inner.Step, own.Privacy.Steps)
	}
	if err := own.mover.fits(s.inner); err != nil {
		return err
	}
	if err := g.runs.Restore(run, inner); err != nil {
		return fmt.Errorf("restore step %d: %w", inner.Step, err)
	}
	own.mover.restore(s.inner)
	return nil
}

// Close frees the memory of the runs on the device. A second Close does nothing.
func (g *Group) Close() error {
	end, err := g.begin()
	if errors.Is(err, ErrClosed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer end()
	g.closed = true
	defer g.model.groups.leave()
	if g.shown != nil {
		return errors.Join(g.shown.Close(), g.runs.Close())
	}
	return g.runs.Close()
}
