package compile_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
)

// trained returns the gradient that the engine sums for one sample.
func trained(t *testing.T, src compile.Source, row ...[]float32) [][]float32 {
	t.Helper()
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	l := engine.LayoutOf(p)
	loaded, err := cpu.New(cpu.Options{}).Load(p, &engine.Data{Samples: 1, Columns: engine.Floats(row...)})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: 2, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: -1},
		Initial:   l.Join(p.Initial()),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	if err := runs.Steps(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	gradient := runs.State(0).Params
	for i, was := range l.Join(p.Initial()) {
		gradient[i] -= was
	}
	return l.Split(gradient)
}

// Logistic regression by the textbook: the gradient of −y log p − (1−y) log(1−p) is (p − y)x, for every batch size.
// BinaryXent takes a node out of the graph, after which Gorgonia's index returns other nodes' operands.
func TestLogisticRegression(t *testing.T) {
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	for _, batch := range []int{1, 5} {
		g := enginetest.NewG(batch, 1)
		x, y, w, v := g.In("x", 2), g.In("y", 1), g.Param("w", 2, 1), g.Param("v", 2, 1)
		p := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(x, w))))
		q := g.Do(gorgonia.Sigmoid(g.Do(gorgonia.Mul(x, v))))
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(p, y))))
		cost = g.Do(gorgonia.Add(cost, g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(q, y))))))
		src, err := g.Done(p, cost)
		if err != nil {
			t.Fatal(err)
		}
		got := trained(t, src, []float32{0.5, 1}, []float32{1})
		for i, param := range []*gorgonia.Node{w, v} {
			at := param.Value().Data().([]float32)
			for k, xk := range []float64{0.5, 1} {
				if want := (sigmoid(0.5*float64(at[0])+float64(at[1])) - 1) * xk; math.Abs(float64(got[i][k])-want) > 1e-5 {
					t.Errorf("batch %d: gradient of parameter %d[%d] is %v, want %v", batch, i, k, got[i][k], want)
				}
			}
		}
	}
}

// A graph is refused if Gorgonia removed and recycled a node that another node uses: here the first cost uses 1−q, and
// the second takes its logarithm.
func TestNodesTakenAwayAreRefused(t *testing.T) {
	g := enginetest.NewG(4, 1)
	x, w, v := g.In("x", 3), g.Param("w", 3, 2), g.Param("v", 3, 2)
	p, q := g.Do(gorgonia.Exp(g.Do(gorgonia.Mul(x, w)))), g.Do(gorgonia.Exp(g.Do(gorgonia.Mul(x, v))))
	a, b := g.Do(gorgonia.BinaryXent(p, q)), g.Do(gorgonia.BinaryXent(q, p))
	src, err := g.Squares(g.Do(gorgonia.Add(a, b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "use Log1p") {
		t.Errorf("got %v", err)
	}
}

// BinaryXent of a softmax turns the softmax itself into its logarithm and then uses it as a probability.
func TestBinaryCrossEntropyOfASoftmaxIsRefused(t *testing.T) {
	for _, batch := range []int{1, 4} {
		g := enginetest.NewG(batch, 1)
		x, y := g.In("x", 3), g.In("y", 2)
		p := g.Do(gorgonia.SoftMax(g.Do(gorgonia.Mul(x, g.Param("w", 3, 2)))))
		src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.BinaryXent(p, y)))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "log softmax") {
			t.Errorf("batch %d: got %v", batch, err)
		}
		g = enginetest.NewG(batch, 1)
		p = g.Do(gorgonia.SoftMax(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))))
		src, err = g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(p, g.Do(gorgonia.Log(p)))))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "log softmax") {
			t.Errorf("entropy, batch %d: got %v", batch, err)
		}
	}
}
