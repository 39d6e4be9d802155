package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"gorgonia.org/gorgonia"
)

// suite returns the suite of the contract's checks for an engine.
func suite(e func() engine.Engine) enginetest.Suite {
	return enginetest.Suite{Engine: e, Inspect: cpu.Inspect, Tolerance: 2e-4, Short: testing.Short()}
}

func compiled() engine.Engine { return cpu.New(cpu.Options{}) }

func withFallback() engine.Engine {
	return engine.FirstOf(cpu.New(cpu.Options{}), cpu.OneByOne(cpu.Options{}))
}

func TestSuite(t *testing.T) { suite(compiled).Run(t) }

// Every operation without a rule is right one sample at a time.
func TestOneByOne(t *testing.T) { suite(withFallback).Lone(t) }

func TestModels(t *testing.T) {
	activations := map[string]models.TemperedSigmoid{"tanh": models.Tanh, "tempered": {Scale: 1.5, Temperature: 1.2, Offset: 0.7}}
	for _, name := range enginetest.Networks() {
		for act, a := range activations {
			t.Run(name+"/"+act, func(t *testing.T) {
				suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
					n, err := enginetest.Network(name, models.Options{Batch: batch, Activation: a})
					if err != nil {
						return compile.Source{}, err
					}
					return enginetest.Bound(n, rand.NewPCG(1, 2))
				}, 1, nil)
			})
		}
	}
}

// Models of users' own shapes work; a model with one output is a regression.
func TestModelsOfOtherShapes(t *testing.T) {
	for _, c := range []struct {
		spec    string
		shape   []int
		outputs int
	}{
		{"linear", []int{5}, 3}, {"linear", []int{7}, 1}, {"mlp:9,4", []int{2, 3}, 1}, {"mlp:6", []int{4}, 2},
		{"cnn", []int{3, 17, 20}, 4}, {"cnn", []int{14, 15}, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
				n, err := models.New(c.spec, c.shape, c.outputs, models.Options{Batch: batch})
				if err != nil {
					return compile.Source{}, err
				}
				return enginetest.Bound(n, rand.NewPCG(1, 2))
			}, 1, nil)
		})
	}
}

// A graph with an operation without a rule is trained one sample at a time: its clipped sums equal finite differences
// of its cost, max over w of (xw)², and runs of it can step and predict.
func TestFallback(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, w := g.In("x", 4), g.Param("w", 4, 6)
	src, err := g.Squares(g.Do(gorgonia.Max(g.Do(gorgonia.Mul(x, w)), 1)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	data := enginetest.RandomData(p, 1, 2)
	var unsupported *engine.UnsupportedError
	if _, err := cpu.New(cpu.Options{}).Load(p, data); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "maxOp") {
		t.Fatalf("Max has a rule now, or isn't named (%v): use another operation here", err)
	}
	loaded, err := withFallback().Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if err := engine.Passed(loaded); !errors.As(err, &unsupported) {
		t.Errorf("passed over for %v", err)
	}
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 0.01, ClippingNorm: 100, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.1},
		Initial:   engine.LayoutOf(p).Join(p.Initial()),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	cost := func(w []float32) float64 {
		best := math.Inf(-1)
		for c := range 6 {
			v := 0.0
			for k := range 4 {
				v += float64(data.Columns[0].Floats[k]) * float64(w[k*6+c])
			}
			best = math.Max(best, v)
		}
		return best * best
	}
	sum, _, err := cpu.Inspect(runs).ClippedSum(0, []int32{0})
	if err != nil {
		t.Fatal(err)
	}
	at := runs.State(0).Params
	for i, got := range sum {
		up, down := append([]float32(nil), at...), append([]float32(nil), at...)
		up[i] += 1e-2
		down[i] -= 1e-2
		if want := (cost(up) - cost(down)) / 2e-2; math.Abs(got-want) > 1e-3 {
			t.Errorf("gradient %d is %v, by differences %v", i, got, want)
		}
	}
	if err := runs.Steps(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	out, err := runs.Predict(context.Background(), data, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := cost(runs.State(0).Params); math.Abs(float64(out[0][0]*out[0][0])-want) > 1e-4 {
		t.Errorf("prediction %v, want ±√%v", out[0][0], want)
	}
}

// The number of workers changes no bit.
func TestWorkers(t *testing.T) {
	n, err := enginetest.Network("cnn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(enginetest.Source(n))
	if err != nil {
		t.Fatal(err)
	}
	sameByAnyWorkers(t, p, engine.LayoutOf(p).Split(engine.LayoutOf(p).Join(n.Initial(rand.NewPCG(1, 2)))))
	for name, h := range enginetest.Handmades(t) {
		t.Run(name, func(t *testing.T) { sameByAnyWorkers(t, h.Program, h.Params) })
	}
}

func sameByAnyWorkers(t *testing.T, p *compile.Program, params [][]float32) {
	t.Helper()
	data := enginetest.RandomData(p, 300, 2)
	var want []engine.State
	job := engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 0.5, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 150},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
		Key:       random.InsecureKey(3),
		Initial:   engine.LayoutOf(p).Join(params),
	}
	for _, workers := range []int{1, 2, 5} {
		loaded, err := cpu.New(cpu.Options{Workers: workers}).Load(p, data)
		if err != nil {
			t.Fatal(err)
		}
		other := job
		other.Trial = 1
		runs, err := loaded.Start(job, other, job)
		if err != nil {
			t.Fatal(err)
		}
		if err := runs.Steps(context.Background(), 3, 2, 1); err != nil {
			t.Fatal(err)
		}
		got := []engine.State{runs.State(0), runs.State(1), runs.State(2)}
		if workers == 1 {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers end elsewhere than one", workers)
		}
	}
}
