package term

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

// ErrInterrupted reports a signal that came before a computation ended.
var ErrInterrupted = Coded(CodeInterrupted, errors.New("interrupted"))

// Await returns the results of compute, and shows on the context's console what takes long. Once the context of one of
// the stoppable commands is done, it returns an error that wraps ErrInterrupted, and abandons compute, which goes on
// until the process ends: neither the accountant nor a read can be stopped. So compute has to return a value and do
// nothing else: neither print nor log, and change no file but such as a killed process may leave too.
func Await[T any](ctx context.Context, doing string, compute func() (T, error)) (T, error) {
	return Follow(ctx, nil, doing, func(*Follower) (T, error) { return compute() })
}

// Awaiting is told what a command begins to wait for. Tests send a signal then.
var Awaiting = func(doing string) {}

// Follow is [Await] for a computation that reports its progress to a follower.
func Follow[T any](ctx context.Context, console *ui.Console, doing string, compute func(*Follower) (T, error)) (T, error) {
	return Begin(ctx, new(sync.WaitGroup), NewFollower(ctx, console), compute).Await(ctx, doing)
}

// Pending is a computation that runs beside others.
type Pending[T any] struct {
	f     *Follower
	done  chan outcome[T]
	began bool // not if the context was done already
}

type outcome[T any] struct {
	value T
	err   error
}

// Begin starts a computation and counts it among those that run. [Pending.Await] waits for it. Until then nothing is
// shown of it: it stops at the first report that isn't progress, and the progress is lost.
func Begin[T any](ctx context.Context, running *sync.WaitGroup, f *Follower, compute func(*Follower) (T, error)) *Pending[T] {
	p := &Pending[T]{f, make(chan outcome[T], 1), ctx.Err() == nil} // buffered for an abandoned computation
	if p.began {
		running.Go(func() {
			value, err := compute(f)
			p.done <- outcome[T]{value, err}
		})
	}
	return p
}

// Await is the function Await for a computation that has begun. Call it once.
func (p *Pending[T]) Await(ctx context.Context, doing string) (T, error) {
	close(p.f.awaited)
	Awaiting(doing)
	console := p.f.Console
	if t, shown := ctx.Value(consoleKey{}).(*Terminal); shown && console == nil {
		console = t.Console()
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
			return none, fmt.Errorf("%w while %s", ErrInterrupted, doing)
		}
	}
}

// AwaitEnd is Await for a computation that ends by itself soon after the context is done, and saves its work first. It
// calls stopping when it begins to wait for that.
func (p *Pending[T]) AwaitEnd(ctx context.Context, stopping func()) (T, error) {
	close(p.f.awaited)
	defer p.f.Console.EndProgress()
	done := ctx.Done()
	for {
		select {
		case show := <-p.f.shows:
			show()
		case o := <-p.done:
			if errors.Is(o.err, context.Canceled) {
				o.err = fmt.Errorf("%w while training", ErrInterrupted)
			}
			return o.value, o.err
		case <-done:
			if !p.began {
				var none T
				return none, fmt.Errorf("%w before the training", ErrInterrupted)
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

// Showing returns a context in which [Await] shows on t's console what it waits for, if that takes long.
func (t *Terminal) Showing(ctx context.Context) context.Context {
	return context.WithValue(ctx, consoleKey{}, t)
}

// Follower is the follower of a plan that shows reports on a console. It hands them to the goroutine that waits for
// the computation, so that an abandoned one shows nothing.
type Follower struct {
	Console *ui.Console
	done    <-chan struct{} // closed when nothing waits any more
	awaited chan struct{}   // closed when the goroutine waits
	shows   chan func()

	Epsilon float64 // of the plan that runs
	failed  bool    // a trial has failed
}

// NewFollower returns a follower of a computation that nothing waits for once the context is done.
func NewFollower(ctx context.Context, console *ui.Console) *Follower {
	return &Follower{Console: console, done: ctx.Done(), awaited: make(chan struct{}), shows: make(chan func())}
}

// Show calls show in the goroutine that waits, and not at all once none does.
func (f *Follower) Show(show func()) {
	select {
	case f.shows <- show:
	case <-f.done:
	}
}

// Log logs a text at a level.
func (f *Follower) Log(level logrus.Level, text any) {
	f.Show(func() { f.Console.Log().Log(level, text) })
}

// Note logs what a person may want to know.
func (f *Follower) Note(text string) { f.Log(logrus.InfoLevel, text) }

// Warn logs a warning.
func (f *Follower) Warn(text string) { f.Log(logrus.WarnLevel, text) }

// Private warns of private facts. A console that shows none says only that there are some; the private log has them.
func (f *Follower) Private(facts []string) {
	f.Show(func() {
		level := logrus.WarnLevel
		if !f.Console.ShowsPrivate() {
			f.Console.Log().Warn("the training rows look odd, which is private: the private report says how, and --verbose")
			level = logrus.DebugLevel
		}
		for _, fact := range facts {
			f.Console.Log().Log(level, fact+"; this is private")
		}
	})
}

// Progress shows that done of total units of work are done, once the computation is awaited.
func (f *Follower) Progress(done, total float64, what string) {
	select {
	case <-f.awaited:
		f.Show(func() { f.Console.Progress(done, total, what) })
	default: // a download must not stop meanwhile
	}
}

// Tuning shows an event of a tuning.
func (f *Follower) Tuning(p tuner.PrivateProgress) { f.Show(func() { f.showTuning(p) }) }

// showTuning shows progress and logs each trial. Whether the console has the number of trials decides about the share
// of work too: the share at which the final run begins gives the number away.
func (f *Follower) showTuning(p tuner.PrivateProgress) {
	console, shown, epsilon := f.Console, f.Console.ShowsPrivate(), "epsilon "+release.Up(f.Epsilon)
	switch {
	case !shown:
		console.Working("training, " + epsilon)
	case p.Final:
		console.Progress(p.Done, p.Total, fmt.Sprintf("final run, trials done: %d, %s", p.TrialsDone, epsilon))
	default:
		console.Progress(p.Done, p.Total, fmt.Sprintf("tuning, trials done: %d, %s", p.TrialsDone, epsilon))
	}
	switch {
	case p.Err != nil:
		level := logrus.WarnLevel
		if f.failed && !shown { // one warning points to the private log
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
