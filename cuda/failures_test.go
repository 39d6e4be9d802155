package cuda

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
	"github.com/dptrain/dptrain/train/enginetest"
)

// stingy is a device that refuses one allocation, and knows what hasn't been given back.
type stingy struct {
	driver.Device
	left   *int // allocations until then
	fault  error
	memory map[driver.Pointer]bool
}

func (d stingy) Alloc(bytes int) (driver.Pointer, error) {
	if *d.left--; *d.left == 0 {
		return 0, fmt.Errorf("allocate %d bytes: %w", bytes, d.fault)
	}
	p, err := d.Device.Alloc(bytes)
	d.memory[p] = true
	return p, err
}

func (d stingy) Free(p driver.Pointer) error {
	delete(d.memory, p)
	return d.Device.Free(p)
}

// Whichever allocation fails, on whichever of two devices: where memory is short less may do, and then results are the
// same; any other error is handed on; and everything is given back.
func TestAnyAllocationMayFail(t *testing.T) {
	l := kernelsOrSkip(t)
	p := enginetest.Zoo()["max-pool: tall windows"].Program(t, 1)
	const samples = 40
	data := enginetest.RandomData(p, samples, 2)
	j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
	var want []any
	outcomes := map[string]int{}
	for _, fault := range []error{driver.ErrOutOfMemory, errLost} {
		for number := 0; ; number++ {
			var all []driver.Device
			var left []*int
			memory := map[driver.Pointer]bool{}
			for k := range 2 {
				d, done := device(t, l, uint64(k))
				defer done()
				refuses := new(int) // never
				if k == number%2 {
					*refuses = number/2 + 1
				}
				if number == 0 {
					*refuses = -1
				}
				left = append(left, refuses)
				all = append(all, stingy{d, refuses, fault, memory})
			}
			var said []string
			e := newEngine(all, "cuda, emulated", emulatedThreads, func(text string) { said = append(said, text) })
			got, err := useAndClose(e, p, data, j, j, j, j)
			if len(memory) > 0 {
				t.Errorf("allocation %d: %v: %d allocations are never given back", number, fault, len(memory))
			}
			reached := number > 0 && *left[number%2] <= 0
			switch {
			case number == 0 && (err != nil || len(said) > 0):
				t.Fatalf("nothing failed: %v, %q", err, said)
			case number == 0:
				want = got
			case err == nil && !reflect.DeepEqual(got, want):
				t.Errorf("allocation %d: %v: other results", number, fault)
			case err == nil && reached && fault == errLost:
				t.Errorf("allocation %d: %v: nobody hears of it", number, fault)
			case err != nil && !errors.Is(err, fault):
				t.Errorf("allocation %d: %v: %v", number, fault, err)
			}
			outcomes[fmt.Sprint(fault, err == nil)]++
			if number > 1 && !reached {
				break
			}
		}
	}
	if outcomes[fmt.Sprint(driver.ErrOutOfMemory, true)] < 3 || len(outcomes) != 4 {
		t.Errorf("%v: the failures test little", outcomes)
	}
}

// useAndClose does all that a program is loaded for, and returns what it gets.
func useAndClose(e *Engine, p *compile.Program, data *engine.Data, jobs ...engine.Job) (got []any, err error) {
	loaded, err := e.Load(p, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	runs, err := loaded.Start(jobs...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	ctx := context.Background()
	if err := runs.Steps(ctx, 1, 2, 1, 0); err != nil {
		return nil, err
	}
	out, err := runs.Predict(ctx, data, 0, 1, 2, 3)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		got = append(got, runs.State(i), out[i])
	}
	return append(got, loaded.Arithmetic()), nil
}

// A device that has no memory left for a prediction is well: it says what it hasn't room for, and goes on.
func TestNoMemoryToPredict(t *testing.T) {
	d, done := device(t, kernelsOrSkip(t), 1)
	defer done()
	full := sized{Device: d, multiprocessors: 2, limit: 1 << 30, free: new(int)}
	p := enginetest.MLP(t, 6, 5, 3)
	data := enginetest.RandomData(p, 50, 2)
	loaded, err := newEngine([]driver.Device{full}, "cuda, emulated", emulatedThreads, nil).Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	if a := loaded.Arithmetic(); !strings.Contains(a, "cuda, emulated") || !strings.Contains(a, fmt.Sprintf("chunks of %d", mostInChunk)) {
		t.Errorf("sums depend on more than %q says", a)
	}
	runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 50))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	*full.free = 1 << 30
	var broken *DeviceError
	if _, err := runs.Predict(ctx, data, 0); !errors.Is(err, driver.ErrOutOfMemory) || errors.As(err, &broken) {
		t.Errorf("predict without memory: %v", err)
	}
	*full.free = 0
	if _, err := runs.Predict(ctx, data, 0); err != nil {
		t.Errorf("predict with memory again: %v", err)
	}
	if err := errors.Join(runs.Steps(ctx, 1), runs.Close(), loaded.Close()); err != nil {
		t.Error(err)
	}
}
