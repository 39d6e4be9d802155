package cpu_test

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// uses are ways in which a graph with rows of four may use a 4×4 matrix and another matrix.
var uses = map[string]func(g *enginetest.G, h, ids, w, other *gorgonia.Node) *gorgonia.Node{
	"product": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Mul(h, w)) },
	"transposed": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node {
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.Transpose(w))))
	},
	"three products": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node { // stacked
		for range 3 {
			h = g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, w))))
		}
		return h
	},
	"derived": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node {
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.Tanh(w))))
	},
	"derived from two": func(g *enginetest.G, h, _, w, other *gorgonia.Node) *gorgonia.Node {
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.HadamardProd(w, other))))
	},
	"product of two": func(g *enginetest.G, h, _, w, other *gorgonia.Node) *gorgonia.Node {
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.Mul(w, other))))
	},
	"softmax": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node {
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.SoftMax(w))))
	},
	"lookup": func(g *enginetest.G, h, ids, w, _ *gorgonia.Node) *gorgonia.Node {
		rows := g.Do(gorgonia.ByIndices(w, g.Do(gorgonia.Reshape(ids, tensor.Shape{3 * g.Batch})), 0))
		return g.Do(gorgonia.Add(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Reshape(rows, tensor.Shape{g.Batch, 3, 4})), 1))))
	},
	"lookup in derived": func(g *enginetest.G, h, ids, w, _ *gorgonia.Node) *gorgonia.Node {
		rows := g.Do(gorgonia.ByIndices(g.Do(gorgonia.Sigmoid(w)), g.Do(gorgonia.Reshape(ids, tensor.Shape{3 * g.Batch})), 0))
		return g.Do(gorgonia.Add(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Reshape(rows, tensor.Shape{g.Batch, 3, 4})), 1))))
	},
	"row": func(g *enginetest.G, h, _, w, _ *gorgonia.Node) *gorgonia.Node {
		row := g.Do(gorgonia.Reshape(g.Do(gorgonia.Slice(w, gorgonia.S(1))), tensor.Shape{1, 4}))
		return g.Do(gorgonia.BroadcastHadamardProd(h, row, nil, []byte{0}))
	},
	"dropout": func(g *enginetest.G, h, _, _, _ *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Dropout(h, 0.4)) },
}

// For any uses of a parameter a sample's contribution to a sum depends on no other sample, to the bit, even beside
// samples without a finite gradient. Its norm is at most C, and the clipped norm is the norm of the summed numbers.
func TestMixedUsesOfParameters(t *testing.T) {
	names := []string{"product", "transposed", "three products", "derived", "derived from two", "product of two", "softmax", "lookup", "lookup in derived", "row", "dropout"}
	if len(names) != len(uses) {
		t.Fatal("a use isn't drawn")
	}
	rapid.Check(t, func(t *rapid.T) {
		const samples = 17
		g := enginetest.NewG(2, uint64(rapid.IntRange(0, 1000).Draw(t, "seed")))
		h, ids := g.In("x", 4), g.Ids("ids", 3)
		both := []*gorgonia.Node{g.Param("w", 4, 4), g.Param("v", 4, 4)}
		h = g.Do(gorgonia.Mul(h, both[1])) // both are used
		h = g.Do(gorgonia.Add(h, uses["lookup"](g, h, ids, both[0], nil)))
		for range rapid.IntRange(1, 5).Draw(t, "uses") {
			name, k := rapid.SampledFrom(names).Draw(t, "use"), rapid.IntRange(0, 1).Draw(t, "matrix")
			h = uses[name](g, h, ids, both[k], both[1-k])
		}
		src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		data := enginetest.RandomData(p, samples, 3)
		column := data.Columns[0].Floats
		column[4*3] = float32(math.Inf(1))
		column[4*8+1] = float32(math.NaN())
		column[4*11+2] = 1e30
		for j := range 4 {
			column[4*5+j] *= 1e4 // clipped
		}
		loaded, err := cpu.New(cpu.Options{Workers: 1}).Load(p, data)
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		for _, clip := range []float64{0.5, 1e6} {
			runs, err := loaded.Start(engine.Job{
				Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: clip, ExpectedBatchSize: 1},
				Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
				Key:       random.InsecureKey(6), Initial: engine.LayoutOf(p).Join(p.Initial()),
			})
			if err != nil {
				t.Fatal(err)
			}
			alone := make([][]float64, samples)
			for i := range alone {
				sum, squared, err := cpu.Inspect(runs).ClippedSum(0, []int32{int32(i)})
				if err != nil {
					t.Fatal(err)
				}
				norm := 0.0
				for _, v := range sum {
					norm += v * v
				}
				norm = math.Sqrt(norm)
				want := math.Min(clip, math.Sqrt(squared[0]))
				if math.IsInf(squared[0], 0) || math.IsNaN(squared[0]) {
					want = 0
				}
				if norm > clip || math.Abs(norm-want) > 1e-4*want+clip*1e-5 {
					t.Errorf("clip %v: sample %d adds a vector of norm %v, its gradient's norm is %v", clip, i, norm, math.Sqrt(squared[0]))
				}
				alone[i] = sum
			}
			for _, some := range [][]int32{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {2, 3, 4}, {1, 5, 8, 9}, {11, 16}} {
				sum, _, err := cpu.Inspect(runs).ClippedSum(0, some)
				if err != nil {
					t.Fatal(err)
				}
				for j, got := range sum {
					want := 0.0
					for _, i := range some {
						want += alone[i][j]
					}
					if got != want {
						t.Fatalf("clip %v: the sum of samples %v has %v at %d, those alone add up to %v", clip, some, got, j, want)
					}
				}
			}
			_ = runs.Close()
		}
	})
}
