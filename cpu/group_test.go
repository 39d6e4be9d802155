package cpu_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

func several(t *testing.T, workers int, n int) (*compile.Program, engine.Loaded, engine.Runs) {
	t.Helper()
	p := enginetest.MLP(t, 6, 3)
	l, err := cpu.New(cpu.Options{Workers: workers}).Load(p, enginetest.RandomData(p, 50, 5))
	if err != nil {
		t.Fatal(err)
	}
	var jobs []engine.Job
	for i := range n {
		jobs = append(jobs, engine.Job{Mechanism: engine.Mechanism{SamplingProbability: 0.5, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 25},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.1}, Trial: uint32(i), Initial: make([]float32, engine.LayoutOf(p).Size)})
	}
	runs, err := l.Start(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return p, l, runs
}

// Cancelled runs stop after the current step.
func TestCancelledRunsStop(t *testing.T) {
	p, _, runs := several(t, 2, 3)
	ctx, stop := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, stop)
	const far = 1 << 20
	if err := runs.Steps(ctx, far, far, far); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i, n := range runs.Done() {
		if n >= far {
			t.Errorf("run %d took all its steps", i)
		}
	}
	before := runs.Done()
	if err := runs.Steps(ctx, 5, 5, 5); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i, n := range runs.Done() {
		if n > before[i]+1 {
			t.Errorf("run %d took %d steps on a cancelled context", i, n-before[i])
		}
	}
	if _, err := runs.Predict(ctx, enginetest.RandomData(p, 500, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("predict on a cancelled context: %v", err)
	}
}

// As many runs advance at once as there are workers: both have begun before one has ended.
func TestRunsAdvanceSideBySide(t *testing.T) {
	p := enginetest.MLP(t, 6, 3)
	loaded, err := cpu.New(cpu.Options{Workers: 2}).Load(p, enginetest.RandomData(p, 50, 5))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var begun [2]atomic.Bool
	var jobs []engine.Job
	for i := range begun {
		jobs = append(jobs, engine.Job{Mechanism: engine.Mechanism{SamplingProbability: 0.1, ClippingNorm: 1, ExpectedBatchSize: 5},
			Optimizer: engine.Optimizer{Method: engine.SGD}, Initial: make([]float32, engine.LayoutOf(p).Size),
			Rate: func(int) float64 {
				if begun[i].Store(true); begun[1-i].Load() {
					stop()
				}
				return 0.1
			}})
	}
	runs, err := loaded.Start(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	const far = 1 << 16
	if err := runs.Steps(ctx, far, far); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if at := runs.Done(); at[0] >= far || at[1] >= far {
		t.Errorf("one run waited for the other's end: %v steps", at)
	}
}

func TestStepsAreOnePerRunAndNotNegative(t *testing.T) {
	_, _, runs := several(t, 1, 2)
	for _, steps := range [][]int{{1}, {1, 1, 1}, {-1, 1}, {1, -1}, {}} {
		if err := runs.Steps(context.Background(), steps...); err == nil {
			t.Errorf("steps %v were taken", steps)
		}
	}
	if at := runs.Done(); at[0] != 0 || at[1] != 0 {
		t.Errorf("refused steps were taken: %v", at)
	}
}

// Predict has its workers to itself while another group steps.
func TestPredictBesideSteps(t *testing.T) {
	p, l, runs := several(t, 1, 1)
	data := enginetest.RandomData(p, 20000, 1)
	net := engine.Job{Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 25},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 5}, Trial: 9, Initial: make([]float32, engine.LayoutOf(p).Size)}
	if err := runs.Steps(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	want, err := runs.Predict(context.Background(), data, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Start(net)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		for ctx.Err() == nil {
			_ = other.Steps(ctx, 20)
			// Otherwise it takes the only worker again before a prediction wakes up, often for a second.
			time.Sleep(time.Microsecond)
		}
	})
	for range 60 {
		got, err := runs.Predict(context.Background(), data, 0)
		if err != nil {
			t.Error(err)
			break
		}
		for j := range got[0] {
			if got[0][j] != want[0][j] {
				t.Error("predictions beside another group's steps differ")
				break
			}
		}
	}
	stop()
	wait.Wait()
}
