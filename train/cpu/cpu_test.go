package cpu_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu"
	"github.com/dptrain/dptrain/train/engine"
	"github.com/dptrain/dptrain/train/enginetest"
	"gorgonia.org/gorgonia"
)

func TestModels(t *testing.T) {
	activations := map[string]models.TemperedSigmoid{"tanh": models.Tanh, "tempered": {Scale: 1.5, Temperature: 1.2, Offset: 0.7}}
	for _, name := range models.Names() {
		for act, a := range activations {
			t.Run(name+"/"+act, func(t *testing.T) {
				enginetest.CheckGraph(t, cpu.New(cpu.Options{}), func(batch int) (compile.Source, error) {
					n, err := models.New(name, rand.NewPCG(1, 2), models.Options{Batch: batch, Activation: a})
					return compile.Source(n), err
				}, 1, nil)
			})
		}
	}
}

func TestConformance(t *testing.T) {
	enginetest.Conformance(t, func() engine.Engine { return cpu.New(cpu.Options{}) })
}

// A graph with an operation that has no rule is trained one sample at a time: its clipped sums equal
// finite differences of its cost, max over w of (xw)², and it can be stepped and predicted from.
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
	if p.Missing() == nil {
		t.Fatal("Max has a rule now: use another operation here")
	}
	data := enginetest.RandomData(p, 1, 2)
	run, err := cpu.New(cpu.Options{Workers: 2}).Start(engine.Job{
		Program: p, Data: data,
		Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 0.01, ClippingNorm: 100, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.1},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	cost := func(w []float32) float64 {
		best := math.Inf(-1)
		for c := range 6 {
			v := 0.0
			for k := range 4 {
				v += float64(data.Columns[0][k]) * float64(w[k*6+c])
			}
			best = math.Max(best, v)
		}
		return best * best
	}
	sum, _, err := run.PrivateClippedSum([]int32{0})
	if err != nil {
		t.Fatal(err)
	}
	at := run.State().Params[0]
	for i, got := range sum[0] {
		up, down := append([]float32(nil), at...), append([]float32(nil), at...)
		up[i] += 1e-2
		down[i] -= 1e-2
		if want := (cost(up) - cost(down)) / 2e-2; math.Abs(float64(got)-want) > 1e-3 {
			t.Errorf("gradient %d is %v, by differences %v", i, got, want)
		}
	}
	if err := run.Steps(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	out, err := run.Predict(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	if want := cost(run.State().Params[0]); math.Abs(float64(out[0]*out[0])-want) > 1e-4 {
		t.Errorf("prediction %v, want ±√%v", out[0], want)
	}
}

// The number of workers changes nothing, to the last bit.
func TestWorkers(t *testing.T) {
	n, err := models.New("cnn", rand.NewPCG(1, 2), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Source(n))
	if err != nil {
		t.Fatal(err)
	}
	data := enginetest.RandomData(p, 300, 2)
	var want engine.State
	for _, workers := range []int{1, 2, 5} {
		run, err := cpu.New(cpu.Options{Workers: workers}).Start(engine.Job{
			Program: p, Data: data,
			Mechanism: engine.Mechanism{SamplingProbability: 0.5, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 150},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
			Key:       random.InsecureKey(3),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 3); err != nil {
			t.Fatal(err)
		}
		got := run.State()
		run.Close()
		if workers == 1 {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers end elsewhere than one", workers)
		}
	}
}
