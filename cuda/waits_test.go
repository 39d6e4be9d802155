package cuda

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// Every barrier in these graphs is needed: without any one of them a thread reads a number that another hasn't written,
// or overwrites one that another still reads, and the device sees it.
func TestWaitsAreNeeded(t *testing.T) {
	l := kernelsOrSkip(t)
	for _, name := range []string{"residual", "weight and its transpose", "rectifier", "two rows within a sample", "transposed within a sample",
		"max-pool: tall windows", stridedGraph, "the same filter twice", softmaxGraph, "two binary cross-entropies"} {
		p := enginetest.Zoo()[name].Program(t, 2)
		data := enginetest.RandomData(p, 30, 2)
		code, err := walk.Lower(p)
		if err != nil {
			t.Fatal(err)
		}
		waits := 0
		for at := 0; at < len(code.Gradient.Code); at += walk.Words {
			if code.Gradient.Code[at+walk.WordWait] == 0 {
				continue
			}
			waits++
			hasty := *code
			hasty.Gradient.Code = slices.Clone(code.Gradient.Code)
			hasty.Gradient.Code[at+walk.WordWait] = 0
			if err := walked(t, l, &hasty, data); err == nil {
				t.Errorf("%s: nobody needs the wait before instruction %d", name, at/walk.Words)
			}
		}
		if err := walked(t, l, code, data); err != nil || waits == 0 {
			t.Errorf("%s, with all %d waits: %v", name, waits, err)
		}
	}
}

// walked takes samples through a program as it was lowered.
func walked(t *testing.T, l *emulator.Library, code *walk.Program, data *engine.Data) error {
	t.Helper()
	d, done := device(t, on(l), seeds.Add(1))
	defer done()
	e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	loaded, err := e.upload(code, data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	runs, err := loaded.Start(jobOf(code.Program, engine.LayoutOf(code.Program).Join(code.Initial()), data.Samples))
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	_, _, err = inspect(runs).ClippedSum(0, allOf(data.Samples))
	return err
}
