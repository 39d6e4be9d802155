package enginetest

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Suite holds an engine to the contract of package engine.
type Suite struct {
	// Engine makes the engine under test.
	Engine func() engine.Engine
	// Inspect looks into runs that the engine started.
	Inspect func(engine.Runs) Inspector
	// Tolerance is how far gradients, norms and outputs may be from Gorgonia's, relative to the size of what they are
	// part of. In single precision 2e-4 leaves room for sums of thousands of terms in another order.
	Tolerance float64
	// Short leaves out what takes long without testing another promise: most random graphs, most batches.
	Short bool
}

// Inspector sees what never leaves a run: sums before they get their noise, and gradient norms. Production code has no
// such thing; engines offer it to their tests.
type Inspector interface {
	// ClippedSum returns a run's clipped sum over the given samples, which are ascending, at its current parameters:
	// the very sum that a step with this minibatch would release, laid out by [engine.Layout]; and the squared norm of
	// each sample's gradient.
	ClippedSum(run int, samples []int32) (sum, squaredNorms []float64, err error)
}

// Run runs the whole suite.
func (s Suite) Run(t *testing.T) {
	t.Run("Graphs", s.graphs)
	t.Run("Differences", func(t *testing.T) { s.differences(t, Zoo()) })
	t.Run("RandomGraphs", s.randomGraphs)
	t.Run("Corrupted", s.corrupted)
	for name, check := range Checks() {
		t.Run(name, func(t *testing.T) { check(t, s) })
	}
}

// Checks returns those tests of the suite that hold the half which privacy rests on, by name. They report to a [TB], so
// that a test can ask whether they find a fault.
func Checks() map[string]func(TB, Suite) {
	return map[string]func(TB, Suite){
		"Exact":      exact,
		"Paths":      paths,
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
		"Opaque":     opaque,
		"Refusals":   refusals,
		"Tables":     tables,
	}
}

// start loads and starts jobs; the caller calls done.
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

// Lone holds the graphs that make sense for a batch of one only against differences: every operation that is trained
// one sample at a time for want of a rule is among them.
func (s Suite) Lone(t *testing.T) { s.differences(t, Lone()) }
