package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// Only full memory is answered by taking less: any other error of an allocation is returned, even if the next one would
// succeed.
func TestOnlyFullMemoryMeansLess(t *testing.T) {
	l := kernelsOrSkip(t)
	p := enginetest.MLP(t, 6, 5, 3)
	data := enginetest.RandomData(p, 20, 2)
	j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 20)
	failures := 0
	for at := 1; ; at++ {
		d, done := device(t, on(l), 1)
		defer done()
		bad := &faulty{Device: d, kind: "alloc", at: at, err: errLost, held: map[driver.Pointer]bool{}}
		e := newEngine([]driver.Device{bad}, "cuda, emulated", emulatedThreads, nil)
		err := whileRunning(e, p, data, []engine.Job{j, j, j}, func(engine.Runs) error { return nil })
		if bad.calls < at {
			break
		}
		failures++
		if !errors.Is(err, errLost) {
			t.Errorf("allocation %d: nobody hears that the device is lost: %v", at, err)
		}
	}
	if failures < 10 {
		t.Errorf("only %d allocations fail", failures)
	}
}

// A device without memory for a prediction is well: the error says so, and the device goes on.
func TestNoMemoryToPredict(t *testing.T) {
	d, done := device(t, on(kernelsOrSkip(t)), 1)
	defer done()
	full := sized{Device: d, multiprocessors: 2, limit: 1 << 30, free: new(int)}
	p := enginetest.MLP(t, 6, 5, 3)
	data := enginetest.RandomData(p, 50, 2)
	var said []string
	loaded, err := newEngine([]driver.Device{full}, "cuda, emulated", emulatedThreads, func(text string) { said = append(said, text) }).Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	if a := loaded.Arithmetic(); !strings.Contains(a, "cuda, emulated") || !strings.Contains(a, "program ") {
		t.Errorf("sums depend on more than %q says", a)
	}
	runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 50))
	if err != nil {
		t.Fatal(err)
	}
	if len(said) > 0 {
		t.Errorf("with memory for all of it: %q", said)
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
