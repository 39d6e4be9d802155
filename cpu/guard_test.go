package cpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
)

// explosive panics at one sample, and its panic quotes the sample's values.
type explosive struct {
	workspace
	sample int32
}

func (e explosive) clipped(b *bound, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error {
	for _, s := range samples {
		if s == e.sample {
			panic(data.Columns[0].Floats[int(s)*6 : int(s)*6+6])
		}
	}
	return e.workspace.clipped(b, data, samples, clip, sum, squared)
}

func (e explosive) predict(_ *bound, data *engine.Data, from, to int, _ []float32) error {
	var none []float32
	none[from] = data.Columns[0].Floats[to] // a panic of the runtime
	return nil
}

// A panic in a worker is an error of the run. Otherwise it would end the process, since no caller can recover it, and
// might print a sample. The other runs take their steps.
func TestPanicsOfWorkersAreErrors(t *testing.T) {
	p := enginetest.MLP(t, 6, 3)
	const samples = 500
	data := &engine.Data{Samples: samples, Columns: engine.Floats(make([]float32, samples*6), make([]float32, samples*3))}
	for i := range data.Columns[0].Floats {
		data.Columns[0].Floats[i] = 0.8125 + float32(i)
	}
	for _, workers := range []int{1, 4} {
		e := New(Options{Workers: workers}).(*cpuEngine)
		e.workspace = func(l *lowered) workspace { return explosive{l.workspace(), 321} }
		loaded, err := e.Load(p, data)
		if err != nil {
			t.Fatal(err)
		}
		job := engine.Job{
			Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: samples},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
			Key:       random.InsecureKey(1),
			Initial:   engine.LayoutOf(p).Join(p.Initial()),
		}
		spared := job
		spared.Members = []int32{1, 2, 3, 320}
		runs, err := loaded.Start(spared, job, spared)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), "panic in") || !strings.Contains(err.Error(), "explosive") {
				t.Errorf("%d workers, %s: got %v, want an error that names the place", workers, what, err)
			} else if strings.Contains(err.Error(), "8125") {
				t.Errorf("%d workers, %s: %q quotes the sample", workers, what, err)
			}
		}
		first := runs.Steps(context.Background(), 1, 1, 2)
		check("step", first)
		var failed engine.RunErrors
		if !errors.As(first, &failed) || len(failed) != 3 || failed[0] != nil || failed[1] == nil || failed[2] != nil {
			t.Errorf("%d workers: failed are %v, want run 1", workers, first)
		}
		if done := runs.Done(); !slices.Equal(done, []int{1, 0, 2}) {
			t.Errorf("%d workers: done are %v: the step that panicked counts, or others don't", workers, done)
		}
		// Such a run may have stopped in the middle of an update: it takes no further step.
		r := runs.(*group).runs[1]
		r.job.Members, r.members = spared.Members, spared.Members
		if again := runs.Steps(context.Background(), 0, 1, 0); again == nil || again.Error() != first.Error() {
			t.Errorf("%d workers: a run went on after a panic: %v", workers, again)
		}
		if err := runs.Restore(1, runs.State(0)); err != nil {
			t.Fatal(err)
		}
		if err := runs.Steps(context.Background(), 0, 1, 0); err != nil {
			t.Errorf("%d workers: a restored run: %v", workers, err)
		}
		_, err = runs.Predict(context.Background(), data, 1)
		check("prediction", err)
	}
}

// Programs that the compiler didn't make, and nil data, are errors too.
func TestPanicsAtTheStartAreErrors(t *testing.T) {
	empty := &compile.Program{Forward: []compile.Instruction{{Op: compile.Conv}}, Values: []compile.Value{{}}}
	if loaded, err := New(Options{}).Load(empty, &engine.Data{}); err == nil {
		if _, err := loaded.Start(engine.Job{
			Mechanism: engine.Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1}, Optimizer: engine.Optimizer{Method: engine.SGD},
		}); err == nil {
			t.Error("a program without operands was started")
		}
	}
}
