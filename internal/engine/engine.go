package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/random"
)

// Engine runs jobs on one kind of device. Call Load once for a program and its data, Start for jobs, and Steps to
// advance them.
type Engine interface {
	Name() string
	// Load prepares a program of [compile.Compile], and the data that its runs train on, on the device. The engine may
	// read both in place until Close, and neither may change until then; package train hands over data that only it
	// holds. Load first checks the data against the program ([Data.Check], a [*FieldError]). It refuses a program with
	// an instruction that it doesn't know by an [*UnsupportedError].
	Load(*compile.Program, *Data) (Loaded, error)
}

// Loaded is a program and its data on a device. Its methods may be called concurrently.
type Loaded interface {
	// Arithmetic identifies the arithmetic of gradients and sums: equal names mean equal bits. Jobs that differ only in
	// their arithmetic must draw different noise, because equal noise would cancel in the difference of their releases.
	Arithmetic() string
	// Start checks jobs and prepares runs of them that advance side by side. A job that can't run is a [*FieldError].
	// Start copies all that it keeps of a job, so the job's slices may change afterwards.
	Start(...Job) (Runs, error)
	// Close frees the memory on the device. Close the runs first. A second Close, a Start after Close and a Close
	// before the runs' are faults of the caller, on which an engine may panic; package train returns errors instead.
	Close() error
}

// Runs are jobs that advance side by side, each exactly as it would alone, to the last bit. They are numbered from 0 in
// the order in which they were started. A run's number out of range and a call after Close, even a second Close, are
// errors of the caller, and an engine may panic; package train checks for them and returns errors. Only Done may be
// called concurrently with other methods. The caller may change the slices that methods return.
type Runs interface {
	// Steps takes steps[i] logical steps of run i. If [CheckSteps] refuses the numbers, no run moves. When the context
	// is cancelled every run stops after a whole step, and Steps returns the context's error. A run that fails stops at
	// that step, takes no further step until it is restored, and doesn't stop the others; Steps then returns a
	// [RunErrors]. After a failure of the device no run takes a step again, State returns the states that were read
	// last, and every later call, even for no steps, returns [ErrLost] errors.
	Steps(ctx context.Context, steps ...int) error

	// Done returns the number of steps that each run has taken. It may be called during Steps.
	Done() []int

	// State returns a copy of a run's state.
	State(run int) State

	// Restore sets a run's state to a copy of s. The slices of s must have the lengths of the run's own.
	Restore(run int, s State) error

	// Predict returns, for each of the given runs at its current parameters, the program's output for every sample of
	// data: Program.Output.Size values for each sample. It is an error if the program has no output.
	Predict(ctx context.Context, data *Data, runs ...int) ([][]float32, error)

	// Close frees the runs' memory on the device.
	Close() error
}

// CheckSteps checks the arguments of [Runs].Steps, given the numbers of steps done. A run takes at most 2³¹−1 steps,
// the maximum in the name of a stream.
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

// ErrLost is wrapped by errors about a device that failed. No run on this device can continue, not even from a restored
// state.
var ErrLost = errors.New("the device is lost")

// ErrClosed is wrapped by errors about a use after Close.
var ErrClosed = errors.New("closed already")

// ErrInUse is wrapped by errors about an object that can't be closed or used because it is in use.
var ErrInUse = errors.New("in use")

// RunErrors reports the runs of a group that failed: element i is run i's error, or nil.
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

// Unwrap returns the errors that aren't nil.
func (e RunErrors) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e), func(err error) bool { return err == nil })
}

// Or returns e, or nil if no run failed.
func (e RunErrors) Or() error {
	if len(e.Unwrap()) == 0 {
		return nil
	}
	return e
}

// UnsupportedError reports an operation that an engine lacks. Another engine may run the program.
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

// FirstOf returns an engine that loads each program on the first of the given engines that supports it. [Passed]
// returns why earlier ones didn't. FirstOf copies the list.
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
		switch {
		case errors.As(err, new(*UnsupportedError)):
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

// chosen is a program on an engine that wasn't the first choice.
type chosen struct {
	Loaded
	passed error
}

// Passed returns the errors of the engines that [FirstOf] tried before the one that loaded the program:
// [*UnsupportedError] values, joined, or nil if the first engine loaded it. Show it to the user, because the engine may
// be slower. The guarantee is the same.
func Passed(l Loaded) error {
	if c, ok := l.(chosen); ok {
		return c.passed
	}
	return nil
}

// Minibatch appends to dst, in ascending order, the members that take part in a step, by the step's minibatch stream
// ([random.Sampler]). Steps count from 0. members is the job's list, or all samples if the job has none.
func (j *Job) Minibatch(step int, members, dst []int32) []int32 {
	return random.SamplerOf(j.Mechanism.SamplingProbability).Sample(j.Key.Stream(j.id(random.Minibatch, step)), members, dst)
}

// Normals fills dst with step's standard normals, for coordinates from, from+1, … of the parameter vector ([Layout]).
// Steps count from 0, and from is even. Normal i comes from word i and its neighbour ([random.Stream.Normals]).
func (j *Job) Normals(step, from int, dst []float64) {
	s := j.Noise(step)
	s.Seek(uint64(from))
	s.Normals(dst)
}

// Noise returns the stream of step's normals, for a caller that draws them in parts. First seek the first coordinate,
// which is even. All parts but the last have an even length.
func (j *Job) Noise(step int) random.Stream { return *j.Key.Stream(j.id(random.Noise, step)) }

// GraphDraws returns the stream of a step's draws within samples: [compile.Dropout] keeps elements, [compile.Normals]
// and [compile.Uniforms] are random nodes. Steps count from 0. Draw d of a sample, given by its number in the data, is
// half of word (sample·draws + d)/2, the low half if d is even; draws is the program's. An element is kept if its draw,
// as an unsigned number, is below [KeepBelow]. Normals are those of [random.Stream.Normals] from the same words,
// rounded to single precision. A sample's draws don't depend on the other samples of the minibatch: with one sample
// more or less in it, no other's gradient changes.
func (j *Job) GraphDraws(step int) random.Stream { return *j.Key.Stream(j.id(random.GraphDraws, step)) }

// KeepBelow returns the number below which a draw of 32 bits keeps an element with probability keep, in (0, 1].
func KeepBelow(keep float32) uint64 { return uint64(math.Ceil(float64(keep) * (1 << 32))) }

func (j *Job) id(p random.Purpose, step int) random.ID {
	return random.ID{Purpose: p, Trial: j.Trial, Step: uint32(step)}
}
