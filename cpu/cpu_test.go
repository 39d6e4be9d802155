package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// suite returns the suite of the contract's checks for an engine.
func suite(e func() engine.Engine) enginetest.Suite {
	return enginetest.Suite{Engine: e, Inspect: cpu.Inspect, Tolerance: 2e-4, Directed: true, Short: long.Race}
}

func compiled() engine.Engine { return cpu.New(cpu.Options{}) }

func TestSuite(t *testing.T) { suite(compiled).Run(t) }

// bound returns a model in the compiler's form, with initial values.
func bound(m train.Model) (compile.Source, error) {
	return enginetest.Bound(compile.Source{Inputs: m.Inputs, Params: m.Parameters, Constants: m.Constants, Output: m.Output, Cost: m.Cost}, m.Initial(rand.NewPCG(1, 2)))
}

func TestModels(t *testing.T) {
	activations := map[string]models.TemperedSigmoid{"tanh": models.Tanh, "tempered": {Scale: 1.5, Temperature: 1.2, Offset: 0.7}}
	for _, name := range []string{"cnn", "mlp"} {
		for act, a := range activations {
			t.Run(name+"/"+act, func(t *testing.T) {
				suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
					n, err := models.New(name, []int{1, 28, 28}, 10, models.Options{Batch: batch, Activation: a})
					if err != nil {
						return compile.Source{}, err
					}
					return bound(n)
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
				return bound(n)
			}, 1, nil)
		})
	}
}

// The number of workers changes no bit.
func TestWorkers(t *testing.T) {
	for _, name := range []string{"cnn", "dropout", "attention of two heads", "normalised rows", "weight normalisation", "a table looked up twice"} {
		t.Run(name, func(t *testing.T) { sameByAnyWorkers(t, enginetest.Zoo()[name].Program(t, 1)) })
	}
}

func sameByAnyWorkers(t *testing.T, p *compile.Program) {
	t.Helper()
	data := enginetest.RandomData(p, 300, 2)
	var want []engine.State
	job := engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 0.5, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 150},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
		Key:       random.InsecureKey(3),
		Initial:   engine.LayoutOf(p).Join(p.Initial()),
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

// A matrix that products use in two shapes has one gradient, the sum of both parts.
func TestMatrixInTwoShapes(t *testing.T) {
	suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
		g := enginetest.NewG(batch, 74)
		x, w := g.In("x", 6), g.Param("w", 6, 4)
		h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, w))))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Reshape(w, tensor.Shape{4, 6})))))
	}, 2, nil)
}
