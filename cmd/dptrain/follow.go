package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/tuner"
)

// errInterrupted reports a signal that came before a computation ended.
var errInterrupted = coded(codeInterrupted, errors.New("interrupted"))

// accounting is the activity of a command that waits for the accountant.
const accounting = "accounting for the plan"

// await returns the results of compute, and shows on the context's console what takes long. Once the context of one of
// the stoppable commands is done, it returns an error that wraps errInterrupted, and abandons compute, which goes on
// until the process ends: neither the accountant nor a read can be stopped. So compute has to return a value and do
// nothing else: neither print nor log, and change no file but such as a killed process may leave too.
func await[T any](ctx context.Context, doing string, compute func() (T, error)) (T, error) {
	return follow(ctx, nil, doing, func(*follower) (T, error) { return compute() })
}

// awaiting is told what a command begins to wait for. Tests send a signal then.
var awaiting = func(doing string) {}

// follow is await for a computation that reports its progress to a follower.
func follow[T any](ctx context.Context, console *ui.Console, doing string, compute func(*follower) (T, error)) (T, error) {
	return begin(ctx, new(sync.WaitGroup), newFollower(ctx, console), compute).await(ctx, doing)
}

// A pending computation runs beside others.
type pending[T any] struct {
	f     *follower
	done  chan outcome[T]
	began bool // not if the context was done already
}

type outcome[T any] struct {
	value T
	err   error
}

// begin starts a computation and counts it among those that run. [pending.await] waits for it. Until then nothing is
// shown of it: it stops at the first report that isn't progress, and the progress is lost.
func begin[T any](ctx context.Context, running *sync.WaitGroup, f *follower, compute func(*follower) (T, error)) *pending[T] {
	p := &pending[T]{f, make(chan outcome[T], 1), ctx.Err() == nil} // buffered for an abandoned computation
	if p.began {
		running.Go(func() {
			value, err := compute(f)
			p.done <- outcome[T]{value, err}
		})
	}
	return p
}

// await is the function await for a computation that has begun. Call it once.
func (p *pending[T]) await(ctx context.Context, doing string) (T, error) {
	close(p.f.awaited)
	awaiting(doing)
	console := p.f.console
	if console == nil {
		console = consoleOf(ctx)
	}
	var look <-chan time.Time
	if console != nil {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		look = ticker.C
		console.Waiting(doing)
		defer console.EndProgress()
	}
	for {
		select {
		case <-look:
			console.Waiting(doing)
		case show := <-p.f.shows:
			show()
		case o := <-p.done:
			if o.err == nil || ctx.Err() == nil { // otherwise compute may have failed because of the context
				return o.value, o.err
			}
		case <-ctx.Done():
			var none T
			return none, fmt.Errorf("%w while %s", errInterrupted, doing)
		}
	}
}

// awaitEnd is await for a computation that ends by itself soon after the context is done, and saves its work first. It
// calls stopping when it begins to wait for that.
func (p *pending[T]) awaitEnd(ctx context.Context, stopping func()) (T, error) {
	close(p.f.awaited)
	defer p.f.console.EndProgress()
	done := ctx.Done()
	for {
		select {
		case show := <-p.f.shows:
			show()
		case o := <-p.done:
			if errors.Is(o.err, context.Canceled) {
				o.err = fmt.Errorf("%w while training", errInterrupted)
			}
			return o.value, o.err
		case <-done:
			if !p.began {
				var none T
				return none, fmt.Errorf("%w before the training", errInterrupted)
			}
			stopping()
			done = nil
		}
	}
}

// lookEvery is the time between two looks at a computation that reports nothing by itself.
const lookEvery = 250 * time.Millisecond

// consoleKey is the key of a context's console.
type consoleKey struct{}

// shownBy returns a context in which await shows on g's console what it waits for, if that takes long.
func shownBy(ctx context.Context, g *global) context.Context {
	return context.WithValue(ctx, consoleKey{}, g)
}

// consoleOf returns the console of a context, or nil.
func consoleOf(ctx context.Context) *ui.Console {
	g, _ := ctx.Value(consoleKey{}).(*global)
	if g == nil {
		return nil
	}
	return g.console()
}

// follower is an [experiment.Follower] that shows reports on a console. It hands them to the goroutine that waits for
// the computation, so that an abandoned one shows nothing.
type follower struct {
	console *ui.Console
	done    <-chan struct{} // closed when nothing waits any more
	awaited chan struct{}   // closed when the goroutine waits
	shows   chan func()

	epsilon float64 // of the plan that runs
	failed  bool    // a trial has failed
}

func newFollower(ctx context.Context, console *ui.Console) *follower {
	return &follower{console: console, done: ctx.Done(), awaited: make(chan struct{}), shows: make(chan func())}
}

func (f *follower) show(show func()) {
	select {
	case f.shows <- show:
	case <-f.done:
	}
}

func (f *follower) log(level logrus.Level, text any) {
	f.show(func() { f.console.Log().Log(level, text) })
}

func (f *follower) Note(text string) { f.log(logrus.InfoLevel, text) }
func (f *follower) Warn(text string) { f.log(logrus.WarnLevel, text) }

func (f *follower) Progress(done, total float64, what string) {
	select {
	case <-f.awaited:
		f.show(func() { f.console.Progress(done, total, what) })
	default: // a download must not stop meanwhile
	}
}

func (f *follower) Tuning(p tuner.PrivateProgress) { f.show(func() { f.showTuning(p) }) }

// showTuning shows progress and logs each trial. Scores go to the private log alone. So does the share of work that is
// done, unless the console is watched: the share at which the final run begins gives the number of trials away, and a
// scheduler keeps standard error where others read it.
func (f *follower) showTuning(p tuner.PrivateProgress) {
	console, watched, epsilon := f.console, f.console.Watched(), "epsilon "+release.Up(f.epsilon)
	switch {
	case !watched:
		console.Working("training, " + epsilon)
	case p.Final:
		console.Progress(p.Done, p.Total, fmt.Sprintf("final run, trials done: %d, %s", p.TrialsDone, epsilon))
	default:
		console.Progress(p.Done, p.Total, fmt.Sprintf("tuning, trials done: %d, %s", p.TrialsDone, epsilon))
	}
	switch {
	case p.Err != nil:
		level := logrus.WarnLevel
		if f.failed && !watched { // one warning points to the private log
			level = logrus.DebugLevel
		}
		f.failed = true
		console.Log().Logf(level, "a trial failed; it counts, and scores lowest: %v", p.Err)
	case p.Kind == tuner.Finished && p.Final:
		console.Log().Debugf("final run: score %v", p.Score)
	case p.Kind == tuner.Finished:
		console.Log().Debugf("trial %d of %d: score %v", p.Trial, p.Trials, p.Score)
	}
}
