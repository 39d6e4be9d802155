package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/random"
)

// outcome is the parameters of runs, and their predictions.
type outcome struct{ params, out [][]float32 }

func outcomeOf(e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job) (o outcome, err error) {
	loaded, err := e.Load(p, data)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	runs, err := loaded.Start(jobs...)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	var steps, which []int
	for i := range jobs {
		steps, which = append(steps, 1), append(which, i)
	}
	if err := runs.Steps(context.Background(), steps...); err != nil {
		return o, err
	}
	for i := range jobs {
		o.params = append(o.params, runs.State(i).Params)
	}
	o.out, err = runs.Predict(context.Background(), data, which...)
	return o, err
}

// apart describes the first difference of two engines beyond a tolerance, or returns "". Numbers that single precision
// doesn't count exactly aren't compared.
func apart(what string, a, b [][]float32, tolerance float64) string {
	for k := range a {
		for i, v := range a[k] {
			x, y := float64(v), float64(b[k][i])
			if math.Abs(x-y) > tolerance*math.Max(1, math.Abs(x)) && math.Abs(x) < 1<<22 || math.IsNaN(x) != math.IsNaN(y) {
				return fmt.Sprintf("%s: run %d, value %d: %v on the CPU, %v here", what, k, i, x, y)
			}
		}
	}
	return ""
}

// The CPU engine and this one agree on every program that passes the check.
func TestRandomPrograms(t *testing.T) {
	l := kernelsOrSkip(t)
	for seed := range uint64(50 * long.Times()) {
		for _, exact := range []bool{true, false} {
			randomCase(t, l, seed, exact)
		}
	}
}

func randomCase(t *testing.T, l *emulator.Library, seed uint64, exact bool) {
	p := randomProgram(seed, exact)
	if err := p.Check(); err != nil {
		t.Fatalf("seed %d: the generator made what isn't a program: %v", seed, err)
	}
	r := rand.New(rand.NewPCG(seed, 6))
	samples := []int{0, 1, 2, 7, 8, 9, 31, 32, 33, 40, 64, 65}[r.IntN(12)]
	data, initial := randomData(p, samples, exact, seed)
	all := engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: 1, ExpectedBatchSize: float64(max(1, samples))},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
		Key:       random.InsecureKey(seed), Initial: initial,
	}
	tolerance := 2e-4
	if exact { // nothing is clipped, and the grid has all integers
		all.Mechanism.ClippingNorm, all.Mechanism.ExpectedBatchSize, tolerance = 0x1p21, 1, 0
	}
	some := all
	some.Trial, some.Mechanism.SamplingProbability = 1, 0.5
	jobs := []engine.Job{all, some}
	d, err := l.Device(seed)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{sized{Device: d, multiprocessors: 1 + r.IntN(3), free: new(int)}}, "cuda, emulated", 32*(1+r.IntN(3)), nil)
	defer e.Close()
	want, err := outcomeOf(cpu.New(cpu.Options{Workers: 1}), p, data, jobs)
	got, err2 := outcomeOf(e, p, data, jobs)
	if err := errors.Join(err, err2); err != nil {
		t.Errorf("seed %d, exact %v: %v", seed, exact, err)
		return
	}
	for _, d := range []string{apart("parameters", want.params, got.params, tolerance), apart("outputs", want.out, got.out, tolerance)} {
		if d != "" {
			t.Errorf("seed %d, exact %v: %s", seed, exact, d)
		}
	}
}
