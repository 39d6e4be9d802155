package cpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// explosive panics at one sample, quoting its values.
type explosive struct {
	workspace
	sample int32
}

func (e explosive) clipped(b binding, data *engine.Data, samples []int32, clip float64, sum [][]float32, squared []float64) error {
	for _, s := range samples {
		if s == e.sample {
			panic(data.Columns[0][int(s)*6 : int(s)*6+6])
		}
	}
	return e.workspace.clipped(b, data, samples, clip, sum, squared)
}

func (e explosive) predict(_ binding, data *engine.Data, from, to int, _ []float32) error {
	var none []float32
	none[from] = data.Columns[0][to] // the runtime's own panic
	return nil
}

type charged struct {
	executable
	sample int32
}

func (c charged) workspace() workspace { return explosive{c.executable.workspace(), c.sample} }

// A panic in a worker is an error of the step. It would take the process down, past every recover of its caller; and
// what it says may be a sample.
func TestPanicsOfWorkersAreErrors(t *testing.T) {
	n, err := models.MLP(rand.NewPCG(3, 4), models.Options{}, 6, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Source(n))
	if err != nil {
		t.Fatal(err)
	}
	const samples = 500
	data := &engine.Data{Samples: samples, Columns: [][]float32{make([]float32, samples*6), make([]float32, samples*3)}}
	for i := range data.Columns[0] {
		data.Columns[0][i] = 0.8125 + float32(i)
	}
	for _, workers := range []int{1, 4} {
		started, err := New(Options{Workers: workers}).Start(engine.Job{
			Program: p, Data: data,
			Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: samples},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
			Key:       random.InsecureKey(1),
		})
		if err != nil {
			t.Fatal(err)
		}
		r := started.(*run)
		sound := r.program
		r.program = charged{sound, 321}
		before := r.State()
		check := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), "panic in") || !strings.Contains(err.Error(), "explosive") {
				t.Errorf("%d workers, %s: got %v, want an error that names the place", workers, what, err)
			} else if strings.Contains(err.Error(), "8125") {
				t.Errorf("%d workers, %s: %q quotes the sample", workers, what, err)
			}
		}
		first := r.Steps(context.Background(), 1)
		check("step", first)
		if after := r.State(); after.Step != before.Step {
			t.Errorf("%d workers: the step that panicked counts", workers)
		}
		// Such a run may be in the middle of an update: it takes no more steps.
		r.program = sound
		r.pool = nil
		if again := r.Steps(context.Background(), 1); !errors.Is(again, errors.Unwrap(first)) {
			t.Errorf("%d workers: a run went on after a panic: %v", workers, again)
		}
		r.program = charged{sound, 321}
		r.pool = nil
		_, _, err = r.PrivateClippedSum([]int32{320, 321})
		check("clipped sum", err)
		_, err = r.Predict(context.Background(), data)
		check("prediction", err)
		r.Close()
	}
}

// Programs that nobody compiled, and no data, are errors as well.
func TestPanicsAtTheStartAreErrors(t *testing.T) {
	empty := &compile.Program{Forward: []compile.Instruction{{Op: compile.Conv}}, Values: []compile.Value{{}}}
	if _, err := New(Options{}).Start(engine.Job{
		Program: empty, Data: &engine.Data{},
		Mechanism: engine.Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1}, Optimizer: engine.Optimizer{Method: engine.SGD},
	}); err == nil {
		t.Error("a program without operands was started")
	}
}
