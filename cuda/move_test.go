package cuda

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

const movedSamples = 30

// moving is a program, its data, and what starts groups of jobs on a device.
type moving struct {
	p    *compile.Program
	data *engine.Data
}

func newMoving(t *testing.T) moving {
	p := enginetest.MLP(t, 7, 3, 3) // parameters of an odd size, so that there is padding
	return moving{p, enginetest.RandomData(p, movedSamples, 2)}
}

func (m moving) job(trial int) engine.Job {
	j := jobOf(m.p, engine.LayoutOf(m.p).Join(m.p.Initial()), movedSamples)
	j.Trial = uint32(trial)
	return j
}

// moved returns a job whose caller halves the way back along the gradient and calls seen. It also writes beside the
// parameters.
func (m moving) moved(trial int, seen func(step int, params, gradient []float32) error) engine.Job {
	j := m.job(trial)
	j.Optimizer = engine.Optimizer{}
	j.Move = func(step int, params, gradient []float32) error {
		if err := seen(step, params, gradient); err != nil {
			return err
		}
		for i := range params {
			params[i] -= gradient[i] / 2
			if i%5 == 0 {
				params[i] += 1e-3 * float32(step)
			}
		}
		return nil
	}
	return j
}

func nothing(int, []float32, []float32) error { return nil }

func (m moving) start(t *testing.T, d driver.Device, jobs ...engine.Job) (runs engine.Runs, done func()) {
	t.Helper()
	loaded, err := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil).Load(m.p, m.data)
	if err != nil {
		t.Fatal(err)
	}
	if runs, err = loaded.Start(jobs...); err != nil {
		t.Fatal(err)
	}
	return runs, func() {
		if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Runs that their callers move and runs of the device's optimizers go side by side, in waves or all at a time, each as
// it would alone, and predictions are of the moved parameters.
func TestMoveBesideOptimizers(t *testing.T) {
	m := newMoving(t)
	adam := m.job(5)
	adam.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: 0.05, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	jobs := []engine.Job{m.moved(0, nothing), m.job(1), m.moved(2, nothing), adam, m.moved(4, nothing)}
	steps := []int{4, 3, 0, 5, 7}
	l := kernelsOrSkip(t)
	var want []engine.State
	var outputs [][]float32
	for i, j := range jobs {
		d, done := device(t, on(l), uint64(i))
		runs, end := m.start(t, d, j)
		for range steps[i] {
			if err := runs.Steps(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
		}
		out, err := runs.Predict(context.Background(), m.data, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, outputs = append(want, runs.State(0)), append(outputs, out[0])
		end()
		done()
	}
	for _, width := range []int{5, 2, 1} {
		d, done := device(t, on(l), uint64(width))
		runs, end := m.start(t, d, jobs...)
		s := runs.(*group).parts[0].step
		s.width, s.ahead = width, width
		if err := runs.Steps(context.Background(), steps...); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(runs.Done(), steps) {
			t.Errorf("%v steps are done, want %v", runs.Done(), steps)
		}
		out, err := runs.Predict(context.Background(), m.data, 0, 1, 2, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			if got := runs.State(i); !reflect.DeepEqual(got, want[i]) || !slices.Equal(out[i], outputs[i]) {
				t.Errorf("%d runs at a time: run %d ends at %v, alone at %v", width, i, got, want[i])
			}
		}
		end()
		done()
	}
}

// Runs that their callers move are spread over devices, too, and end the same.
func TestMoveOnTwoDevices(t *testing.T) {
	m := newMoving(t)
	l := kernelsOrSkip(t)
	var ends [][]engine.State
	for _, devices := range []int{1, 2} {
		loaded, err := emulated(t, l, devices)().Load(m.p, m.data)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := loaded.Start(m.moved(0, nothing), m.job(1), m.moved(2, nothing))
		if err != nil {
			t.Fatal(err)
		}
		if err := runs.Steps(context.Background(), 2, 3, 4); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, []engine.State{runs.State(0), runs.State(1), runs.State(2)})
		if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(ends[0], ends[1]) {
		t.Errorf("on two devices the runs end at %v, on one at %v", ends[1], ends[0])
	}
}

// A Move that fails or panics stops its run, in the state before the step, until it is restored, and no other run.
func TestMoveFails(t *testing.T) {
	m := newMoving(t)
	d, done := device(t, on(kernelsOrSkip(t)), 1)
	defer done()
	errBad := errors.New("too steep")
	bad := true
	jobs := []engine.Job{
		m.moved(0, nothing),
		m.moved(1, func(step int, params, _ []float32) error {
			if step == 3 && bad {
				params[0] = 99
				return errBad
			}
			return nil
		}),
		m.moved(2, func(step int, _, _ []float32) error {
			if step == 2 && bad {
				panic("the secret 17")
			}
			return nil
		}),
		m.job(3),
	}
	runs, end := m.start(t, d, jobs...)
	defer end()
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		var failed engine.RunErrors
		if !errors.As(err, &failed) || failed[0] != nil || failed[3] != nil || !errors.Is(failed[1], errBad) || !strings.Contains(failed[1].Error(), "step 3") {
			t.Fatalf("the runs failed by %v", err)
		}
		if text := failed[2].Error(); !strings.Contains(text, "panicked") || strings.Contains(text, "17") {
			t.Fatalf("a panic is reported as %q", text)
		}
	}
	check(runs.Steps(ctx, 5, 5, 5, 5))
	if got := runs.Done(); !slices.Equal(got, []int{5, 2, 1, 5}) {
		t.Fatalf("%v steps are done", got)
	}
	bad = false
	check(runs.Steps(ctx, 1, 1, 1, 0)) // still stopped
	states := []engine.State{runs.State(1), runs.State(2)}
	if states[0].Step != 2 || states[1].Step != 1 {
		t.Errorf("states of steps %d and %d", states[0].Step, states[1].Step)
	}
	if err := errors.Join(runs.Restore(1, states[0]), runs.Restore(2, states[1]), runs.Steps(ctx, 0, 4, 5, 1)); err != nil {
		t.Fatal(err)
	}
	other, done2 := device(t, on(kernelsOrSkip(t)), 2)
	defer done2()
	whole, end2 := m.start(t, other, jobs...)
	defer end2()
	if err := whole.Steps(ctx, 6, 6, 6, 6); err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		if !reflect.DeepEqual(runs.State(i), whole.State(i)) {
			t.Errorf("run %d ends elsewhere than without a failure", i)
		}
	}
}

// A run that its caller moves stops after a whole step when the context is cancelled.
func TestMoveIsCancelled(t *testing.T) {
	m := newMoving(t)
	d, done := device(t, on(kernelsOrSkip(t)), 1)
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	j := m.moved(0, func(step int, _, _ []float32) error {
		if step == 4 {
			cancel()
		}
		return nil
	})
	runs, end := m.start(t, d, j)
	defer end()
	if err := runs.Steps(ctx, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if s := runs.State(0); s.Step != 4 {
		t.Errorf("it stops after step %d", s.Step)
	}
	if err := runs.Steps(context.Background(), 2); err != nil || runs.Done()[0] != 6 {
		t.Errorf("it goes on to step %d: %v", runs.Done()[0], err)
	}
}

// Whichever call the device fails in, the run ends in a state that it has been in, and the error says so.
func TestDeviceFailsWhileMoving(t *testing.T) {
	m := newMoving(t)
	l := kernelsOrSkip(t)
	var states []engine.State
	failures := 0
	for _, kind := range []string{"", "launch", "upload", "download"} {
		for at := 1; at < 40; at++ {
			d, done := device(t, on(l), 1)
			bad := &faulty{Device: d, kind: kind, at: -1, err: errLost, held: map[driver.Pointer]bool{}}
			runs, _ := m.start(t, bad, m.moved(0, nothing))
			if kind == "" { // what there is
				for range 4 {
					states = append(states, runs.State(0))
					if err := runs.Steps(context.Background(), 1); err != nil {
						t.Fatal(err)
					}
				}
				done()
				break
			}
			bad.calls, bad.at = 0, at
			err := runs.Steps(context.Background(), 3)
			if err == nil {
				done()
				break
			}
			failures++
			s := runs.State(0)
			if !errors.Is(err, engine.ErrLost) || runs.Done()[0] != s.Step || !reflect.DeepEqual(s, states[s.Step]) {
				t.Errorf("%s %d fails: %v, the state is %v", kind, at, err, s)
			}
			if err := runs.Steps(context.Background(), 1); !errors.Is(err, engine.ErrLost) {
				t.Errorf("a step on a lost device: %v", err)
			}
			done()
		}
	}
	if failures < 12 {
		t.Errorf("only %d calls fail", failures)
	}
}

// Whatever fails of a device, the states that are read afterwards have as many steps as the callers were called for:
// what a caller keeps from step to step is saved beside the state, and must be of the same step.
func TestCallersAndStatesAgreeAfterAFailure(t *testing.T) {
	l := kernelsOrSkip(t)
	m := newMoving(t)
	for _, kind := range []string{"download", "upload"} {
		failures := 0
		for at := 1; at < 200; at++ {
			d, done := device(t, on(l), 1)
			bad := &faulty{Device: d, kind: kind, at: at, on: true, err: errLost, held: map[driver.Pointer]bool{}}
			var calls [3]int
			var jobs []engine.Job
			for i := range calls {
				jobs = append(jobs, m.moved(i, func(step int, _, _ []float32) error { calls[i] = step; return nil }))
			}
			loaded, err := newEngine([]driver.Device{bad}, "cuda, emulated", emulatedThreads, nil).Load(m.p, m.data)
			if err != nil {
				done()
				continue
			}
			if runs, err := loaded.Start(jobs...); err == nil {
				if runs.Steps(t.Context(), 2, 2, 2) == nil {
					at = 200
				} else {
					failures++
				}
				for i, want := range calls {
					if got := runs.State(i).Step; got != want || runs.Done()[i] != want {
						t.Errorf("%s %d: run %d is at step %d, its caller at %d", kind, at, i, got, want)
					}
				}
				_ = runs.Close()
			}
			_ = loaded.Close()
			done()
		}
		if failures < 5 {
			t.Errorf("only %d failures of %s", failures, kind)
		}
	}
}
