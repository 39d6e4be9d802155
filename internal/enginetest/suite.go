package enginetest

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
)

// Suite checks an engine against the contract of package engine.
type Suite struct {
	// Engine returns the engine under test.
	Engine func() engine.Engine
	// Inspect returns an Inspector of runs that the engine started.
	Inspect func(engine.Runs) Inspector
	// Tolerance is the maximum error of gradients, norms and outputs compared with Gorgonia's, relative to the
	// magnitude of the whole gradient or output. In single precision 2e-4 allows for sums of thousands of terms in
	// another order.
	Tolerance float64
	// Directed allows contributions on either side of their products, instead of the nearest alone.
	Directed bool
	// Short leaves out slow tests that repeat others with more cases: most random graphs, batch sizes and differences.
	Short bool
}

// rounds reports whether got, in units of the fine grid, is an allowed rounding of exact.
func (s Suite) rounds(got, exact float64) bool {
	if s.Directed {
		return got == math.Floor(exact) || got == math.Ceil(exact)
	}
	return got == math.RoundToEven(exact)
}

// Inspector shows a run's private intermediate results: sums before noise is added, and gradient norms. Production code
// implements no Inspector; engines implement it in their tests.
type Inspector interface {
	// ClippedSum returns a run's clipped sum over the given samples, in ascending order, at its current parameters,
	// laid out by [engine.Layout], and the squared norm of each sample's gradient. It is the very sum that a step with
	// this minibatch would release.
	ClippedSum(run int, samples []int32) (sum, squaredNorms []float64, err error)
}

// Run runs the whole suite.
func (s Suite) Run(t *testing.T) {
	t.Run("Graphs", s.graphs)
	t.Run("Differences", func(t *testing.T) {
		if long.Race {
			t.Skip("takes long under the race detector, where Alone runs the same graphs")
		}
		s.differences(t, Zoo())
	})
	t.Run("RandomGraphs", s.randomGraphs)
	t.Run("StrangeGraphs", s.strangeGraphs)
	for name, check := range Checks() {
		t.Run(name, func(t *testing.T) { check(t, s) })
	}
}

// Checks returns, by name, the tests of that half of the contract that privacy depends on. They report to a [TB], so
// that the suite's own tests can verify that they find faults.
func Checks() map[string]func(TB, Suite) {
	return map[string]func(TB, Suite){
		"Exact":      exact,
		"Additive":   additive,
		"Alone":      alone,
		"Neighbours": neighbours,
		"Wide":       wide,
		"Scales":     scales,
		"Clipping":   clipping,
		"Rounding":   rounding,
		"NotFinite":  notFinite,
		"Ties":       ties,
		"Draws":      draws,
		"Noise":      noise,
		"Release":    release,
		"Coarse":     coarse,
		"EmptyBatch": emptyBatch,
		"Groups":     groups,
		"Together":   together,
		"Progress":   progress,
		"Resume":     resume,
		"Cancel":     cancel,
		"Predict":    predict,
		"Outputs":    outputs,
		"Unknown":    unknown,
		"Refusals":   refusals,
		"Tables":     tables,
		"Dropout":    dropout,
		"Randoms":    randoms,
		"Moves":      moves,
	}
}

// start loads a program, starts jobs and returns the runs. The caller calls done.
func (s Suite) start(t TB, p *compile.Program, data *engine.Data, jobs ...engine.Job) (_ engine.Runs, done func()) {
	t.Helper()
	loaded, err := s.Engine().Load(p, data)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	runs, err := loaded.Start(jobs...)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return runs, func() {
		if err := runs.Close(); err != nil {
			t.Errorf("close the runs: %v", err)
		}
		if err := loaded.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func (s Suite) clippedSum(t TB, runs engine.Runs, run int, samples []int32) (sum, squared []float64) {
	t.Helper()
	sum, squared, err := s.Inspect(runs).ClippedSum(run, samples)
	if err != nil {
		t.Fatalf("clipped sum: %v", err)
	}
	return sum, squared
}

// advance takes steps, one number for each run.
func advance(t TB, runs engine.Runs, steps ...int) {
	t.Helper()
	if err := runs.Steps(context.Background(), steps...); err != nil {
		t.Fatalf("steps: %v", err)
	}
}

// restore sets a run's state.
func restore(t TB, runs engine.Runs, run int, state engine.State) {
	t.Helper()
	if err := runs.Restore(run, state); err != nil {
		t.Fatalf("restore: %v", err)
	}
}

// predicted returns the outputs of one run.
func predicted(t TB, runs engine.Runs, data *engine.Data, run int) []float32 {
	t.Helper()
	out, err := runs.Predict(context.Background(), data, run)
	if err != nil {
		t.Fatalf("predict: %v", err)
	}
	return out[0]
}
