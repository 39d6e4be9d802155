package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// queued is a device that works at its launches when Synchronize waits for them, as GPUs do. It computes nothing.
type queued struct {
	driver.Device
	step    func(n int) time.Duration // what the n-th step takes
	steps   *int                      // that were launched
	looks   *[]int                    // steps at each look
	failing *bool
}

func (d queued) Launch(kernel string, _, _ int, _ ...any) error {
	if kernel == "release_and_update" {
		*d.steps++
	}
	return nil
}

// Download shows the steps in the clocks, and nothing else.
func (d queued) Download(to []byte, from driver.Pointer, offset int) error {
	if len(to) == 4*kernel.ClockColumns {
		binary.LittleEndian.PutUint32(to[4*kernel.ClockDone:], uint32(*d.steps))
		return nil
	}
	return d.Device.Download(to, from, offset)
}

func (d queued) Synchronize() error {
	before := 0
	for _, n := range *d.looks {
		before += n
	}
	for n := before; n < *d.steps; n++ {
		time.Sleep(d.step(n))
	}
	*d.looks = append(*d.looks, *d.steps-before)
	if *d.failing {
		return errLost
	}
	return nil
}

func queuedRun(t *testing.T, step func(n int) time.Duration) (engine.Runs, queued) {
	t.Helper()
	d, done := device(t, on(kernelsOrSkip(t)), 1)
	t.Cleanup(done)
	q := queued{d, step, new(int), new([]int), new(bool)}
	p := enginetest.MLP(t, 3, 2)
	loaded, err := newEngine([]driver.Device{q}, "cuda, queued", emulatedThreads, nil).Load(p, enginetest.RandomData(p, 5, 2))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 5))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
			t.Error(err)
		}
	})
	return runs, q
}

// The host looks at the device seldom while steps are short, soon again when they become long, and launches no step too
// many.
func TestLooksAtTheDevice(t *testing.T) {
	runs, q := queuedRun(t, func(int) time.Duration { return 0 })
	if err := runs.Steps(context.Background(), 2000); err != nil {
		t.Fatal(err)
	}
	if got := len(*q.looks); got > 100 || *q.steps != 2000 {
		t.Errorf("%d looks during %d steps that take no time", got, *q.steps)
	}

	const short, long = 60, 200
	runs, q = queuedRun(t, func(n int) time.Duration {
		if n < short {
			return 0
		}
		return pollEvery / 10
	})
	if err := runs.Steps(context.Background(), short+long); err != nil {
		t.Fatal(err)
	}
	if *q.steps != short+long {
		t.Errorf("%d steps were launched of %d", *q.steps, short+long)
	}
	// The last look is after the remaining steps.
	if looks := *q.looks; len(looks) < 2 || looks[len(looks)-2] > 20 || len(looks) > 100 {
		t.Errorf("steps at each look, of which ten should be between two: %v", looks)
	}
}

// An error that a device reports only when the host waits for it ends its runs, too.
func TestLostWhileQueued(t *testing.T) {
	runs, q := queuedRun(t, func(int) time.Duration { return 0 })
	if err := runs.Steps(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	*q.failing = true
	if err := runs.Steps(context.Background(), 3); !errors.Is(err, errLost) || !errors.Is(err, engine.ErrLost) {
		t.Errorf("steps on a device that fails while it works: %v", err)
	}
	if got := runs.Done()[0]; got != 0 { // the state was never asked for
		t.Errorf("%d steps are done", got)
	}
}
