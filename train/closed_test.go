package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// strict panics on calls that the contract of engines calls the caller's mistake: this package must make no such call.
type strict struct{ engine.Engine }

func (s strict) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := s.Engine.Load(p, d)
	return &strictLoaded{Loaded: l}, err
}

type strictLoaded struct {
	engine.Loaded
	open   int
	closed bool
}

func (l *strictLoaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	if l.closed {
		panic("start after close")
	}
	runs, err := l.Loaded.Start(jobs...)
	l.open++
	return &strictRuns{Runs: runs, loaded: l}, err
}

func (l *strictLoaded) Close() error {
	if l.closed || l.open > 0 {
		panic(fmt.Sprintf("close: closed is %v, %d groups are open", l.closed, l.open))
	}
	l.closed = true
	return l.Loaded.Close()
}

type strictRuns struct {
	engine.Runs
	loaded *strictLoaded
	closed bool
	busy   atomic.Bool
}

func (r *strictRuns) used() {
	if r.closed || r.busy.Load() {
		panic(fmt.Sprintf("use of runs: closed is %v, busy %v", r.closed, r.busy.Load()))
	}
}

func (r *strictRuns) Steps(ctx context.Context, steps ...int) error {
	r.used()
	r.busy.Store(true)
	defer r.busy.Store(false)
	return r.Runs.Steps(ctx, steps...)
}

func (r *strictRuns) Done() []int {
	if r.closed {
		panic("done after close")
	}
	return r.Runs.Done()
}

func (r *strictRuns) State(run int) engine.State {
	r.used()
	return r.Runs.State(run)
}

func (r *strictRuns) Restore(run int, s engine.State) error {
	r.used()
	return r.Runs.Restore(run, s)
}

func (r *strictRuns) Predict(ctx context.Context, d *engine.Data, runs ...int) ([][]float32, error) {
	r.used()
	return r.Runs.Predict(ctx, d, runs...)
}

func (r *strictRuns) Close() error {
	r.used()
	r.closed = true
	r.loaded.open--
	return r.Runs.Close()
}

// misuses returns calls that need an open group, trainer, loaded model or predictor.
func misuses(x *Trainer, g *Group, l *Loaded, p *Predictor, state State, test Labelled) map[string]func() error {
	ctx, data := context.Background(), test.Inputs()
	return map[string]func() error{
		"Trainer.Train":     func() error { _, err := x.Train(ctx, nil); return err },
		"Trainer.State":     func() error { _, err := x.State(); return err },
		"Trainer.Restore":   func() error { return x.Restore(state) },
		"Trainer.Score":     func() error { _, err := x.Score(ctx, test); return err },
		"Trainer.Predict":   func() error { _, err := x.Predict(ctx, data); return err },
		"Group.Train":       func() error { return g.Train(ctx, nil) },
		"Group.State":       func() error { _, err := g.State(0); return err },
		"Group.Restore":     func() error { return g.Restore(0, state) },
		"Group.Result":      func() error { _, err := g.Result(0); return err },
		"Group.Score":       func() error { _, err := g.Score(ctx, test, 0); return err },
		"Group.Predict":     func() error { _, err := g.Predict(ctx, data, 0); return err },
		"Loaded.Start":      func() error { _, err := l.Start(settings()); return err },
		"Predictor.Predict": func() error { _, err := p.Predict(ctx, data); return err },
	}
}

// Methods called after Close return ErrClosed, on every engine, and a second Close returns nil.
func TestUseAfterClose(t *testing.T) {
	for name, e := range map[string]engine.Engine{"fake": strict{&fakeEngine{}}, "cpu": strict{cpu.New(cpu.Options{})}} {
		test := threeClouds(t, 60)
		source := func() Model { return logistic(t, rand.NewPCG(3, 4)) }
		x := must(New(e, source(), test.Data, settings()))
		l := must(Load(e, source(), test.Data))
		g := must(l.Start(settings()))
		p := must(NewPredictor(e, source(), [][]float32{make([]float32, 6), make([]float32, 3)}))
		state := must(x.State())
		for range 2 {
			if err := errors.Join(x.Close(), g.Close(), l.Close(), p.Close()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for call, f := range misuses(x, g, l, p, state, test) {
			if err := f(); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %s after Close: %v", name, call, err)
			}
		}
		if err := errors.Join(l.CheckTest(test), l.Fallback()); err != nil {
			t.Errorf("%s: what asks no engine fails after Close: %v", name, err)
		}
	}
}

// A loaded model can't be closed before its group, which trains on.
func TestClosedBeforeItsGroups(t *testing.T) {
	for name, e := range map[string]engine.Engine{"fake": strict{&fakeEngine{}}, "cpu": strict{cpu.New(cpu.Options{})}} {
		l := must(Load(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data))
		g := must(l.Start(settings()))
		if err := l.Close(); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: closed before a group of it: %v", name, err)
		}
		if err := g.Train(context.Background(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.Start(Settings{}); err == nil {
			t.Errorf("%s: no settings at all start", name)
		}
		if err := errors.Join(g.Close(), l.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// While a group trains, even in its last call of progress, its other methods return ErrInUse: closing a trainer there
// would lose its result.
func TestUseWhileTraining(t *testing.T) {
	fake := &fakeEngine{}
	l := must(Load(strict{fake}, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data))
	g := must(l.Start(settings()))
	fake.after = func(int) {
		_, err := g.State(0)
		if again := g.Train(context.Background(), nil); !errors.Is(err, ErrInUse) || !errors.Is(g.Close(), ErrInUse) || !errors.Is(again, ErrInUse) {
			t.Errorf("a group that trains gives its state (%v), is closed or trains (%v)", err, again)
		}
		fake.after = nil
	}
	if err := g.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	slow, calls := &fakeEngine{after: func(int) { time.Sleep(polled / 20) }}, 0
	x := must(New(strict{slow}, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, settings()))
	last := Progress{}
	if _, err := x.Train(context.Background(), func(p Progress) {
		if err := x.Close(); !errors.Is(err, ErrInUse) {
			t.Errorf("closed at step %d of %d: %v", p.Step, p.Steps, err)
		}
		last = p
		calls++
	}); err != nil || last.Step != last.Steps || calls < 2 {
		t.Errorf("%v after %d calls, the last at step %d of %d", err, calls, last.Step, last.Steps)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// Labelled sets and data that are nil, zero or made by hand are errors.
func TestLabelledThatAreNone(t *testing.T) {
	x, _ := start(t, settings())
	swapped := threeClouds(t, 60)
	swapped.Data = threeClouds(t, 30).Data
	numbers := must(NewRegression(make([]float32, 4), []float32{1, 2}))
	numbers.Data = must(NewData(1, []float32{1}))
	for name, test := range map[string]Labelled{
		"nil": nil, "nil classification": (*Classification)(nil), "nil regression": (*Regression)(nil),
		"zero classification": &Classification{}, "zero regression": &Regression{}, "other data": swapped, "other numbers": numbers,
	} {
		_, err := x.Score(context.Background(), test)
		var wrong *DataError
		if !errors.As(err, &wrong) || !errors.As(x.group.model.CheckTest(test), &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if test != nil && test.Samples() != test.Inputs().Samples() {
			t.Errorf("%s: %d samples", name, test.Samples())
		}
	}
	if _, err := (*Regression)(nil).Evaluate(nil); err == nil {
		t.Error("a nil regression is evaluated")
	}
	for _, d := range []*Data{nil, {}} {
		if _, err := x.Predict(context.Background(), d); err == nil || d.Samples() != 0 {
			t.Errorf("data that are none: %v, %d samples", err, d.Samples())
		}
	}
}

// Runs are numbered from 0: the number of runs is no run's number.
func TestRunAfterTheLast(t *testing.T) {
	test := threeClouds(t, 60)
	l := must(Load(&fakeEngine{}, logistic(t, rand.NewPCG(3, 4)), test.Data))
	g := must(l.Start(settings()))
	_, state := g.State(1)
	_, result := g.Result(1)
	_, score := g.Score(context.Background(), test, 0, 1)
	_, predicted := g.Predict(context.Background(), test.Data, 1)
	for _, err := range []error{state, result, score, predicted, g.Restore(1, State{})} {
		var wrong *SettingError
		if !errors.As(err, &wrong) {
			t.Errorf("run 1 of one: %v", err)
		}
	}
}

// An engine may read data in place, so an assignment to a Data must not reach it.
func TestEngineHasDataOfItsOwn(t *testing.T) {
	e := &fakeEngine{}
	data := *threeClouds(t, 60).Data
	must(Load(e, logistic(t, rand.NewPCG(3, 4)), &data))
	data = *threeClouds(t, 30).Data
	if e.data.Samples != 60 {
		t.Errorf("the engine's data have %d samples", e.data.Samples)
	}
}
