package cpu

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

type failsOnce struct {
	workspace
	left *int
}

func (f failsOnce) clipped(b *bound, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error {
	if *f.left > 0 {
		*f.left--
		return errors.New("out of luck")
	}
	return f.workspace.clipped(b, data, samples, clip, sum, squared)
}

// A run that failed, for any reason, takes no step until it is restored.
func TestAFailedRunStaysWhereItIs(t *testing.T) {
	p := enginetest.MLP(t, 6, 3)
	left := 1
	e := New(Options{Workers: 1}).(*cpuEngine)
	e.workspace = func(l *lowered) workspace { return failsOnce{l.workspace(), &left} }
	loaded := must(e.Load(p, &engine.Data{Samples: 5, Columns: engine.Floats(make([]float32, 30), make([]float32, 15))}))
	runs := must(loaded.Start(wholeBatches(p)))
	if err := runs.Steps(context.Background(), 1); err == nil {
		t.Fatal("it didn't fail")
	}
	if err := runs.Steps(context.Background(), 1); err == nil {
		t.Errorf("it went on to step %d without being restored", runs.Done()[0])
	}
}

// A failure of the update is the step's, the step doesn't count, and no later step releases the sums that it leaves.
func TestAFailedUpdateIsAnError(t *testing.T) {
	p := enginetest.MLP(t, 6, 3)
	l := must(New(Options{Workers: 1}).Load(p, enginetest.RandomData(p, 5, 1)))
	runs := must(l.Start(wholeBatches(p)))
	l.(*loaded).updates = []span{{1 << 20, 1<<20 + 1}} // beyond all parameters
	if err := runs.Steps(context.Background(), 1); err == nil || runs.Done()[0] != 0 {
		t.Errorf("got %v after %d steps", err, runs.Done()[0])
	}
	c, _ := l.(*loaded).team.borrow(1, 0)
	left := func(n int32) bool { return n != 0 }
	if s := c[0].sum; !slices.ContainsFunc(s.units, left) {
		t.Error("the sum was moved")
	} else if s.begin(1, 1); slices.ContainsFunc(s.units, left) {
		t.Error("the next step begins with a failed step's sum")
	}
}
