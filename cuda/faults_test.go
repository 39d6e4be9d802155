package cuda

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// faulty is a device of which one call fails, or all calls of its kind from that one on. It counts allocations.
type faulty struct {
	driver.Device
	kind string
	at   int
	on   bool // and all after it
	err  error

	calls int
	held  map[driver.Pointer]bool
}

func (d *faulty) call(kind string) error {
	if kind != d.kind {
		return nil
	}
	if d.calls++; d.calls == d.at || d.on && d.calls > d.at {
		return d.err
	}
	return nil
}

func (d *faulty) Alloc(bytes int) (driver.Pointer, error) {
	if err := d.call("alloc"); err != nil {
		return 0, err
	}
	p, err := d.Device.Alloc(bytes)
	if err == nil {
		d.held[p] = true
	}
	return p, err
}

// Free fails after it has freed, since a caller can't try again.
func (d *faulty) Free(p driver.Pointer) error {
	delete(d.held, p)
	return errors.Join(d.Device.Free(p), d.call("free"))
}

func (d *faulty) Upload(to driver.Pointer, offset int, from []byte) error {
	if err := d.call("upload"); err != nil {
		return err
	}
	return d.Device.Upload(to, offset, from)
}

func (d *faulty) Download(to []byte, from driver.Pointer, offset int) error {
	if err := d.call("download"); err != nil {
		return err
	}
	return d.Device.Download(to, from, offset)
}

func (d *faulty) Clear(p driver.Pointer, offset, bytes int) error {
	if err := d.call("clear"); err != nil {
		return err
	}
	return d.Device.Clear(p, offset, bytes)
}

func (d *faulty) Launch(kernel string, blocks, threads int, arguments ...any) error {
	if err := d.call("launch"); err != nil {
		return err
	}
	return d.Device.Launch(kernel, blocks, threads, arguments...)
}

func (d *faulty) Synchronize() error {
	if err := d.call("synchronize"); err != nil {
		return err
	}
	return d.Device.Synchronize()
}

// At whichever call a device fails, the error names the device and reports it lost, unless only its memory is full; all
// memory is freed; and the runs of another device end as they should.
func TestEveryCallFails(t *testing.T) {
	l := kernelsOrSkip(t)
	p := enginetest.MLP(t, 6, 5, 3)
	const samples = 20
	data := enginetest.RandomData(p, samples, 2)
	j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
	j.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	jobs, steps := []engine.Job{j, j}, []int{2, 2}
	want, wantOut := finish(t, emulated(t, l, 1)(), p, data, jobs, steps)
	full := fmt.Errorf("allocate: %w", driver.ErrOutOfMemory)
	for _, c := range []struct {
		kind string
		err  error
	}{{"alloc", errLost}, {"alloc", full}, {"upload", errLost}, {"download", errLost}, {"clear", errLost}, {"launch", errLost}, {"synchronize", errLost}, {"free", errLost}} {
		for _, on := range []bool{false, true} {
			for at, reached := 1, true; reached; at++ {
				var devices []*faulty
				for range 2 {
					d, err := l.Device(seeds.Add(1))
					if err != nil {
						t.Fatal(err)
					}
					devices = append(devices, &faulty{Device: d, held: map[driver.Pointer]bool{}})
				}
				bad, good := devices[0], devices[1]
				bad.kind, bad.at, bad.on, bad.err = c.kind, at, on, c.err
				e := newEngine([]driver.Device{bad, good}, "cuda, emulated", emulatedThreads, nil)
				what := fmt.Sprintf("%s fails at call %d (and on: %v) by %q", c.kind, at, on, c.err)
				err := faultyRuns(t, what, e, p, data, jobs, steps, want, wantOut)
				reached = bad.calls >= at
				switch {
				case err == nil:
				case !strings.Contains(err.Error(), bad.Info().Name):
					t.Errorf("%s: the error names no device: %v", what, err)
				case errors.Is(err, engine.ErrLost) == errors.Is(err, driver.ErrOutOfMemory):
					t.Errorf("%s: the error doesn't tell a lost device from full memory: %v", what, err)
				}
				if len(bad.held)+len(good.held) > 0 {
					t.Errorf("%s: %d allocations are never given back", what, len(bad.held)+len(good.held))
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// faultyRuns trains run 0 on a device that fails and run 1 on one that doesn't.
func faultyRuns(t *testing.T, what string, e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job, steps []int, want []engine.State, wantOut [][]float32) error {
	return whileRunning(e, p, data, jobs, func(runs engine.Runs) error {
		err := runs.Steps(context.Background(), steps...)
		if s := runs.State(0); s.Step == steps[0] && !reflect.DeepEqual(s, want[0]) {
			t.Errorf("%s: run 0 says that it has ended, and is elsewhere", what)
		}
		if !reflect.DeepEqual(runs.State(1), want[1]) {
			t.Errorf("%s: run 1, on another device, ends elsewhere", what)
		}
		out, err2 := runs.Predict(context.Background(), data, 0, 1)
		if err2 == nil && runs.Done()[0] == steps[0] && !reflect.DeepEqual(out, wantOut) {
			t.Errorf("%s: runs predict something else", what)
		}
		if out, err := runs.Predict(context.Background(), data, 1); err != nil || !reflect.DeepEqual(out, wantOut[1:]) {
			t.Errorf("%s: run 1, on another device, predicts something else; error %v", what, err)
		}
		return errors.Join(err, err2, runs.Restore(0, want[0]))
	})
}
