package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/compile"
)

// Engine runs jobs on one kind of device.
type Engine interface {
	Name() string
	// Load makes a program, and the data that its runs train on, ready on the device. An engine may read program and
	// data where they lie, a second copy of the data being too much: neither may change until Close. Package train
	// hands over data that only it holds. It holds the data against the program first ([Data.Check], whose error is a
	// [*FieldError]), then the program against itself ([compile.Program.Check]), and refuses a program with an
	// instruction that it doesn't know, [compile.Opaque] among them, by an [*UnsupportedError].
	Load(*compile.Program, *Data) (Loaded, error)
}

// Loaded is a program and its data on a device. Its methods may be used concurrently.
type Loaded interface {
	// Arithmetic names what gradients are computed with. Where it is the same the bits are. Runs must draw noise of
	// their own for each: two releases with the same noise differ by something without any.
	Arithmetic() string
	// Start checks jobs and makes them ready to advance side by side. A job that can't run is a [*FieldError]. Start
	// copies what it keeps of a job: its slices may change afterwards.
	Start(...Job) (Runs, error)
	// Close gives back what is held on the device. Runs are closed before. A second Close, a Start after Close or a
	// Close before that of the runs is a mistake in the caller's program and may panic: package train answers it by
	// an error.
	Close() error
}

// Runs are jobs under way side by side, each to the last bit what it would be alone. They are numbered from 0 as they
// were started; a number that isn't theirs, or a call after Close, a second Close among them, is a mistake in the
// caller's program and may panic: package train answers it by an error, [ErrClosed] in the latter case. Methods other
// than Done are not safe for concurrent use. What they return is the caller's to change.
type Runs interface {
	// Steps takes steps[i] logical steps of run i; numbers that [CheckSteps] refuses are an error, and no run moves. On
	// a context that is or gets cancelled every run stops after a whole step, and the error is the context's. A run
	// that fails stops where it is, takes no step until it is restored, and keeps no other from its steps; the error is
	// then a [RunErrors]. Runs on a device that failed end for good, where their states were last asked for, and every
	// later call says so, of no steps too: their errors are [ErrLost].
	Steps(ctx context.Context, steps ...int) error

	// Done tells how many steps each run has done. It may be called while Steps is at work.
	Done() []int

	// State returns a copy of a run's state.
	State(run int) State

	// Restore replaces a run's state by a copy of one that has the run's lengths.
	Restore(run int, s State) error

	// Predict returns, for each of the given runs at its current parameters, the program's output for every sample of
	// data: Program.Output.Size values each. Of a program without an output it is an error.
	Predict(ctx context.Context, data *Data, runs ...int) ([][]float32, error)

	// Close gives back what the runs hold on the device.
	Close() error
}

// CheckSteps holds numbers of steps that are asked for against those that the runs have done: a run has up to 2³¹−1,
// which is what a [State] and the streams' names count.
func CheckSteps(steps, done []int) error {
	if len(steps) != len(done) {
		return fmt.Errorf("%d numbers of steps for %d runs", len(steps), len(done))
	}
	for i, n := range steps {
		if n < 0 || n > math.MaxInt32-done[i] {
			return fmt.Errorf("run %d: %d steps after %d; a run takes 0 to %d in all", i, n, done[i], math.MaxInt32)
		}
	}
	return nil
}

// ErrLost is what errors wrap that say that a device failed: no run on it goes on, whatever it is restored to.
var ErrLost = errors.New("the device is lost")

// ErrClosed is what errors wrap that say that something was used after its Close.
var ErrClosed = errors.New("closed already")

// ErrInUse is what errors wrap that say that something can't be closed, or used, while something else uses it.
var ErrInUse = errors.New("in use")

// RunErrors tells which runs of a group failed: element i is run i's error, or nil.
type RunErrors []error

func (e RunErrors) Error() string {
	var out []string
	for i, err := range e {
		if err != nil {
			out = append(out, fmt.Sprintf("run %d: %v", i, err))
		}
	}
	return strings.Join(out, "; ")
}

// Unwrap returns the errors that there are.
func (e RunErrors) Unwrap() []error {
	var out []error
	for _, err := range e {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// Or returns e as an error, or nil if no run failed.
func (e RunErrors) Or() error {
	if len(e.Unwrap()) == 0 {
		return nil
	}
	return e
}

// UnsupportedError says which operation keeps an engine from running a program. Another engine may have it.
type UnsupportedError struct {
	Engine    string
	Operation string
	Why       string // may be empty
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("engine %s has no operation %s", e.Engine, e.Operation)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// FirstOf returns an engine that loads each program on the first of the given engines that can run it. [Passed] tells
// what kept those before it from it. FirstOf copies the list.
func FirstOf(engines ...Engine) Engine { return choice(slices.Clone(engines)) }

type choice []Engine

func (c choice) Name() string {
	var names []string
	for _, e := range c {
		if e != nil {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, ", else ")
}

func (c choice) Load(p *compile.Program, d *Data) (Loaded, error) {
	if len(c) == 0 {
		return nil, errors.New("there is no engine to load on")
	}
	var passed []error
	for _, e := range c {
		if e == nil {
			return nil, errors.New("one of the engines to choose from is nil")
		}
		l, err := e.Load(p, d)
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			passed = append(passed, err)
		case err != nil:
			return nil, err
		case len(passed) > 0:
			return chosen{l, errors.Join(passed...)}, nil
		default:
			return l, nil
		}
	}
	return nil, errors.Join(passed...)
}

// chosen is what an engine loaded after others couldn't.
type chosen struct {
	Loaded
	passed error
}

// Passed returns what kept engines from a program before one of [FirstOf] loaded it: [*UnsupportedError] values,
// joined; nil if the first did. Whoever made the choice should tell its user: the guarantee is the same, the time may
// not be.
func Passed(l Loaded) error {
	if c, ok := l.(chosen); ok {
		return c.passed
	}
	return nil
}
