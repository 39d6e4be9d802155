package compile_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// program compiles a graph.
func program(t *testing.T, src compile.Source, err error) *compile.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// count returns the number of instructions with an operation.
func count(op compile.Op, lists ...[]compile.Instruction) int {
	n := 0
	for _, in := range slices.Concat(lists...) {
		if in.Op == op {
			n++
		}
	}
	return n
}

// near reports whether lists of numbers agree within single precision.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 2e-5*(1+math.Abs(y)) })
}

func wide(x []float32) []float64 {
	var out []float64
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// agrees checks the engine's clipped gradient of one sample of standard normal values against the reference's.
func agrees(t *testing.T, build source) {
	t.Helper()
	src, err := build(enginetest.NewG(1, 3))
	p := program(t, src, err)
	row := enginetest.Sample(enginetest.RandomData(p, 1, 5), 0)
	got := trained(t, src, row...)
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ref.Gradient(p.Initial(), row)
	if err != nil {
		t.Fatal(err)
	}
	squared := 0.0
	for _, v := range slices.Concat(want...) {
		squared += v * v
	}
	c := math.Min(1, 2/math.Sqrt(squared)) // trained clips to 2
	for i := range want {
		for k := range want[i] {
			want[i][k] *= c
		}
		if !near(wide(got[i]), want[i]) {
			t.Errorf("the gradient of %q is %v, want %v", p.Params[i].Name, got[i], want[i])
		}
	}
}

// predicted returns the engine's output for one sample.
func predicted(t *testing.T, p *compile.Program, row ...[]float32) []float32 {
	t.Helper()
	return predictedAll(t, p, &engine.Data{Samples: 1, Columns: engine.Floats(row...)})
}

// predictedAll returns the engine's outputs for all samples.
func predictedAll(t *testing.T, p *compile.Program, data *engine.Data) []float32 {
	t.Helper()
	loaded, err := cpu.New(cpu.Options{}).Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: 1, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: engine.LayoutOf(p).Join(p.Initial()),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	out, err := runs.Predict(t.Context(), data, 0)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// A mean over the batch is a sum of samples' costs divided by the batch size, and training does that division. So each
// sample's cost is divided only by the number of its own elements: the gradient of c·Σ h_k²/K with h = xw is
// 2c·x_i·h_k/K, for any batch.
func TestMeanCosts(t *testing.T) {
	x := []float32{0.5, -0.25, 0.125}
	square := func(g *enginetest.G, h node) node { return g.Do(gorgonia.Square(h)) }
	mean := func(g *enginetest.G, h node, along ...int) node { return g.Do(gorgonia.Mean(h, along...)) }
	for name, c := range map[string]struct {
		by   float64 // c/K
		cost func(g *enginetest.G, h node) node
	}{
		"mean of all":           {1. / 4, func(g *enginetest.G, h node) node { return mean(g, square(g, h)) }},
		"mean of sums of rows":  {1, func(g *enginetest.G, h node) node { return mean(g, g.Do(gorgonia.Sum(square(g, h), 1))) }},
		"mean of means of rows": {1. / 4, func(g *enginetest.G, h node) node { return mean(g, mean(g, square(g, h), 1)) }},
		"sum of means of rows":  {1. / 4, func(g *enginetest.G, h node) node { return g.Do(gorgonia.Sum(mean(g, square(g, h), 1))) }},
		"three times":           {3. / 4, func(g *enginetest.G, h node) node { return g.Do(gorgonia.Mul(g.Number(3), mean(g, square(g, h)))) }},
		"half of it, negative": {-1. / 8, func(g *enginetest.G, h node) node {
			return g.Do(gorgonia.Neg(g.Do(gorgonia.Div(mean(g, square(g, h)), g.Number(2)))))
		}},
		"two means": {1. / 4 * (1 - 0.5), func(g *enginetest.G, h node) node {
			half := g.Do(gorgonia.Mul(mean(g, square(g, h)), g.Number(0.5)))
			return g.Do(gorgonia.Sub(mean(g, square(g, h)), half))
		}},
		"a mean of a sum over the batch of rows": {1, func(g *enginetest.G, h node) node {
			s := g.Do(gorgonia.Sum(square(g, h)))
			return g.Do(gorgonia.Div(s, g.Do(gorgonia.SizeOf(0, h))))
		}},
	} {
		for _, batch := range []int{1, 2, 5} {
			g := enginetest.NewG(batch, 1)
			w := g.Param("w", 3, 4)
			h := g.Do(gorgonia.Mul(g.In("x", 3), w))
			src, err := g.Done(nil, c.cost(g, h))
			if err != nil {
				t.Fatal(err)
			}
			got := trained(t, src, x)[0]
			at := w.Value().Data().([]float32)
			for k := range 4 {
				hk := 0.0
				for i := range x {
					hk += float64(x[i]) * float64(at[i*4+k])
				}
				for i := range x {
					if want := 2 * c.by * float64(x[i]) * hk; math.Abs(float64(got[i*4+k])-want) > 1e-5 {
						t.Errorf("%s, batch %d: gradient [%d,%d] is %v, want %v", name, batch, i, k, got[i*4+k], want)
					}
				}
			}
		}
	}
}

// Weight decay: the factor of each parameter's own gradient, 2λ for λ‖θ‖², and whether the mean has it.
func TestDecay(t *testing.T) {
	type parts struct {
		sum, mean, w, v, u node // Σ cost, mean cost, parameters [3, 4], [4, 2] and [1, 2]
	}
	squares := func(g *enginetest.G, w node) node { return g.Do(gorgonia.Sum(g.Do(gorgonia.Square(w)))) }
	times := func(g *enginetest.G, by float64, n node) node { return g.Do(gorgonia.Mul(g.Number(by), n)) }
	for name, c := range map[string]struct {
		cost  func(g *enginetest.G, p parts) node
		decay []float64 // of w, v and u; nil if the graph is refused
		mean  bool
	}{
		"none": {func(g *enginetest.G, p parts) node { return p.sum }, []float64{}, false},
		"Σw²":  {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Add(p.sum, squares(g, p.w))) }, []float64{2, 0, 0}, false},
		"Σw², in front": {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Add(squares(g, p.w), p.sum)) },
			[]float64{2, 0, 0}, false},
		"c·Σw²": {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Add(p.sum, times(g, 0.25, squares(g, p.w)))) },
			[]float64{0.5, 0, 0}, false},
		"Σw²/c": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Div(squares(g, p.w), g.Number(8)))))
		}, []float64{0.25, 0, 0}, false},
		"less Σw²": {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Sub(p.sum, squares(g, p.w))) }, []float64{-2, 0, 0}, false},
		"Σw² less the cost": {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Sub(squares(g, p.w), p.sum)) },
			[]float64{2, 0, 0}, false},
		"negative": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Neg(g.Do(gorgonia.Sub(p.sum, g.Do(gorgonia.Neg(squares(g, p.w)))))))
		}, []float64{-2, 0, 0}, false},
		"mean and λΣw²": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.mean, times(g, 0.25, squares(g, p.w))))
		},
			[]float64{0.5, 0, 0}, true},
		"λΣw² and mean": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(times(g, 0.25, squares(g, p.w)), p.mean))
		},
			[]float64{0.5, 0, 0}, true},
		"(Σ + λΣw²)/B": {func(g *enginetest.G, p parts) node {
			all := g.Do(gorgonia.Add(p.sum, times(g, 0.25, squares(g, p.w))))
			return g.Do(gorgonia.Div(all, g.Do(gorgonia.SizeOf(0, g.In("like", 1)))))
		}, []float64{0.5, 0, 0}, false},
		"3·(mean + λΣw²)": {func(g *enginetest.G, p parts) node {
			return times(g, 3, g.Do(gorgonia.Add(p.mean, times(g, 0.25, squares(g, p.w)))))
		}, []float64{1.5, 0, 0}, true},
		"of a sum and of a mean": {func(g *enginetest.G, p parts) node {
			all := g.Do(gorgonia.Add(p.sum, squares(g, p.w)))
			return g.Do(gorgonia.Add(g.Do(gorgonia.Div(all, g.Do(gorgonia.SizeOf(0, g.In("like", 1))))), squares(g, p.v)))
		}, nil, false},
		"several parameters": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(g.Do(gorgonia.Add(p.sum, times(g, 0.25, squares(g, p.u)))), times(g, 2, squares(g, p.w))))
		}, []float64{4, 0, 0.5}, false},
		"several parameters, added first": {func(g *enginetest.G, p parts) node {
			both := g.Do(gorgonia.Sub(squares(g, p.u), times(g, 2, squares(g, p.w))))
			return g.Do(gorgonia.Add(p.sum, times(g, 0.5, g.Do(gorgonia.Add(both, squares(g, p.v))))))
		}, []float64{-2, 1, 1}, false},
		"a parameter twice": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(g.Do(gorgonia.Add(p.sum, times(g, 0.25, squares(g, p.w)))), squares(g, p.w)))
		}, []float64{2.5, 0, 0}, false},
		"transposed": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, squares(g, g.Do(gorgonia.Transpose(p.w)))))
		}, []float64{2, 0, 0}, false},
		"reshaped": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, squares(g, g.Do(gorgonia.Reshape(p.w, tensor.Shape{2, 6})))))
		}, []float64{2, 0, 0}, false},
		"w∘w": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(p.w, p.w))))))
		}, []float64{2, 0, 0}, false},
		"a part": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, squares(g, g.Do(gorgonia.Slice(p.w, gorgonia.S(0, 2))))))
		}, nil, false},
		"a part ∘ itself": {func(g *enginetest.G, p parts) node {
			part := g.Do(gorgonia.Slice(p.w, gorgonia.S(0, 2)))
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(part, part))))))
		}, nil, false},
		"repeated": {func(g *enginetest.G, p parts) node {
			_, fourTimes, err := gorgonia.Broadcast(p.v, g.Do(gorgonia.Square(p.u)), gorgonia.NewBroadcastPattern(nil, []byte{0}))
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(g.Do(fourTimes, err)))))
		}, nil, false},
		"an axis": {func(g *enginetest.G, p parts) node {
			rows := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(p.w)), 0))
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(rows))))
		}, nil, false},
		"w∘v": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Reshape(p.v, tensor.Shape{2, 4})), g.Do(gorgonia.Transpose(p.v))))))))
		}, nil, false},
		"of two parameters": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(p.w, g.Param("like w", 3, 4)))))))
		}, nil, false},
		"w⁴": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, squares(g, g.Do(gorgonia.Square(p.w)))))
		}, nil, false},
		"a root": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Sqrt(squares(g, p.w)))))
		}, nil, false},
		"times the cost": {func(g *enginetest.G, p parts) node { return g.Do(gorgonia.Mul(p.sum, squares(g, p.w))) }, nil, false},
		"number over Σw²": {func(g *enginetest.G, p parts) node {
			return g.Do(gorgonia.Add(p.sum, g.Do(gorgonia.Div(g.Number(2), squares(g, p.w)))))
		}, nil, false},
	} {
		for _, batch := range []int{1, 2, 5} {
			g := enginetest.NewG(batch, 1)
			p := parts{w: g.Param("w", 3, 4), v: g.Param("v", 4, 2), u: g.Param("u", 1, 2)}
			h := g.Do(gorgonia.Mul(g.Do(gorgonia.Mul(g.In("x", 3), p.w)), p.v))
			h = g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastAdd(h, p.u, nil, []byte{0})), 1))
			p.sum, p.mean = g.Do(gorgonia.Sum(h)), g.Do(gorgonia.Mean(h))
			src, err := g.Done(nil, c.cost(g, p))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := compile.Compile(src)
			switch {
			case c.decay == nil && err == nil:
				t.Errorf("%s, batch %d: decay %v", name, batch, got.Decay)
			case c.decay == nil:
			case err != nil:
				t.Errorf("%s, batch %d: %v", name, batch, err)
			case !slices.Equal(got.Decay, c.decay) || got.DecayOfMean != c.mean:
				t.Errorf("%s, batch %d: decay %v, of the mean %v, want %v, %v", name, batch, got.Decay, got.DecayOfMean, c.decay, c.mean)
			}
		}
	}
}

// A prediction drops nothing, even if a dropout is the output. Each dropout has its own draws. The digest includes the
// probability, and GroupNorm's epsilon.
func TestDropout(t *testing.T) {
	build := func(probability float64, last bool) source {
		return func(g *enginetest.G) (compile.Source, error) {
			h := g.Do(gorgonia.Dropout(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 17))), probability))
			h = g.Do(gorgonia.Mul(g.Do(gorgonia.Tanh(g.Do(gorgonia.Dropout(g.Do(gorgonia.Tanh(h)), probability)))), g.Param("v", 17, 2)))
			if last {
				h = g.Do(gorgonia.Dropout(h, probability))
			}
			return g.Squares(h)
		}
	}
	x := []float32{0.5, -1, 2}
	plain, err := build(0, false)(enginetest.NewG(1, 1))
	want := program(t, plain, err)
	if want.Draws != 0 || count(compile.Dropout, want.Forward) > 0 {
		t.Errorf("a dropout of nothing draws: %v", want)
	}
	for _, last := range []bool{false, true} {
		for _, batch := range []int{1, 4} {
			src, err := build(0.25, last)(enginetest.NewG(batch, 1))
			p := program(t, src, err)
			dropouts := 2
			if last {
				dropouts++
			}
			if count(compile.Dropout, p.Forward) != dropouts || count(compile.Dropout, p.Backward) != dropouts || count(compile.Dropout, p.Predict) != 0 {
				t.Errorf("last %v: want %d dropouts, none in the prediction: %v", last, dropouts, p)
			}
			if got := predicted(t, p, x); !slices.Equal(got, predicted(t, want, x)) {
				t.Errorf("last %v: predicts %v", last, got)
			}
			taken := make([]int, p.Draws)
			for _, in := range p.Forward {
				if in.Op != compile.Dropout {
					continue
				}
				if in.Scalar != 0.75 || in.Draw%compile.DrawsMultiple != 0 {
					t.Errorf("a dropout is %v", in)
				}
				for k := range p.Values[in.Out].Size {
					taken[in.Draw+k]++
				}
			}
			if slices.Max(taken) > 1 {
				t.Errorf("dropouts share draws: %v", taken)
			}
			// The backward pass drops the same elements as the forward pass.
			for _, in := range p.Backward {
				back := func(f compile.Instruction) bool { return f.Op == in.Op && f.Draw == in.Draw && f.Scalar == in.Scalar }
				if in.Op == compile.Dropout && !slices.ContainsFunc(p.Forward, back) {
					t.Errorf("%v goes back through nothing", in)
				}
			}
		}
	}
	// Gorgonia merges two dropouts of one node, as the package comment says.
	g := enginetest.NewG(1, 1)
	h := hidden(g, 2)
	if a, b := g.Do(gorgonia.Dropout(h, 0.1)), g.Do(gorgonia.Dropout(h, 0.5)); a != b {
		t.Error("Gorgonia tells two dropouts of one node apart")
	}
	seen := map[[32]byte]string{}
	for _, probability := range []float64{0, 0.1, 0.25} {
		src, err := build(probability, false)(enginetest.NewG(2, 1))
		seen[program(t, src, err).Digest()] = fmt.Sprint("dropout ", probability)
	}
	for _, epsilon := range []float64{1e-5, 1e-3} {
		for _, groups := range []int{1, 2} {
			src, err := groupNorm(groups, epsilon)(enginetest.NewG(2, 1))
			seen[program(t, src, err).Digest()] = fmt.Sprint("group norm ", groups, epsilon)
		}
	}
	if len(seen) != 7 {
		t.Errorf("digests of %v alone differ", seen)
	}
}

func groupNorm(groups int, epsilon float64) source {
	return func(g *enginetest.G) (compile.Source, error) {
		s, b := g.Param("s", 1, 4, 1, 1), g.Param("b", 1, 4, 1, 1)
		return g.Squares(g.Do(gorgonia.GroupNorm(g.In("x", 4, 2, 1), s, b, groups, 4, epsilon)))
	}
}

// GroupNorm by its formula: s·(x − mean)/√(variance + ε) + b, of the groups' own mean and variance.
func TestGroupNorm(t *testing.T) {
	x := []float32{1, 2, -1, 0.5, 3, -2, 0.25, 4}
	for _, groups := range []int{1, 2, 4} {
		for _, epsilon := range []float64{1e-5, 0.5, 3} {
			for _, batch := range []int{1, 3} {
				src, err := groupNorm(groups, epsilon)(enginetest.NewG(batch, 1))
				p := program(t, src, err)
				scale, shift := p.Initial()[0], p.Initial()[1]
				var want []float64
				k := len(x) / groups
				for i := range x {
					mean, variance := 0.0, 0.0
					for _, v := range x[i/k*k:][:k] {
						mean += float64(v) / float64(k)
					}
					for _, v := range x[i/k*k:][:k] {
						variance += (float64(v) - mean) * (float64(v) - mean) / float64(k)
					}
					z := (float64(x[i]) - mean) / math.Sqrt(variance+epsilon)
					want = append(want, z*float64(scale[i/2])+float64(shift[i/2]))
				}
				if got := wide(predicted(t, p, x)); !near(got, want) {
					t.Errorf("%d groups, ε %v, batch %d: %v, want %v", groups, epsilon, batch, got, want)
				}
			}
		}
	}
}

// A product with a weight of low rank is two products, whose gradients aren't materialized, and equals the product with
// the multiplied weight.
func TestLowRank(t *testing.T) {
	low := func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("x", 3), g.Do(gorgonia.Mul(g.Param("w", 3, 2), g.Param("v", 2, 4)))))
	}
	src, err := squared(low)(enginetest.NewG(2, 1))
	p := program(t, src, err)
	if len(p.Prepare) != 0 || count(compile.MatMul, p.Forward) != 2 || len(p.Reductions) != 2 || p.Reductions[0].Rule != compile.RankOne || p.Reductions[1].Rule != compile.RankOne {
		t.Errorf("want two products and two gradients of rank one:\n%v", p)
	}
	agrees(t, squared(low))
	src, err = func(g *enginetest.G) (compile.Source, error) { return g.Squares(low(g)) }(enginetest.NewG(2, 1))
	chain := program(t, src, err)
	w, v := chain.Initial()[0], chain.Initial()[1]
	x := []float32{0.5, -1, 2}
	var want []float64
	for j := range 4 {
		sum := 0.0
		for i := range 3 {
			for r := range 2 {
				sum += float64(x[i]) * float64(w[i*2+r]) * float64(v[r*4+j])
			}
		}
		want = append(want, sum)
	}
	if got := wide(predicted(t, chain, x)); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A product of two parameters has another shape than its factors say once it was reshaped or, of one row, transposed.
func TestReshapedProduct(t *testing.T) {
	for _, build := range []source{
		squared(func(g *enginetest.G) node {
			w := g.Do(gorgonia.Mul(g.Param("w", 2, 3), g.Param("v", 3, 6)))
			return g.Do(gorgonia.Mul(g.In("x", 4), g.Do(gorgonia.Reshape(w, tensor.Shape{4, 3}))))
		}),
		squared(func(g *enginetest.G) node {
			row := g.Do(gorgonia.Mul(g.Param("w", 1, 3), g.Param("v", 3, 4)))
			return g.Do(gorgonia.Mul(g.In("x", 4), g.Do(gorgonia.Transpose(row))))
		}),
	} {
		agrees(t, build)
		src, err := build(enginetest.NewG(3, 1))
		program(t, src, err)
	}
}

// A product with a transposed matrix, which only Conv2d makes, is the product with its transpose.
func TestTurnedProduct(t *testing.T) {
	x := []float32{0.5, -1, 2}
	var outputs [2][]float32
	var gradients [2][][]float32
	for k, turn := range []bool{true, false} {
		g := enginetest.NewG(2, 1)
		in, v := g.In("x", 3), g.Param("v", 5, 3)
		var h node
		if turn {
			h = g.Do(gorgonia.ApplyOp(turnedProduct(g).Op(), in, v))
		} else {
			h = g.Do(gorgonia.Mul(in, g.Do(gorgonia.Transpose(v))))
		}
		src, err := g.Squares(g.Do(gorgonia.Mul(h, g.Number(0.1))))
		src.Inputs, src.Params = gorgonia.Nodes{in}, gorgonia.Nodes{v}
		outputs[k] = predicted(t, program(t, src, err), x)
		gradients[k] = trained(t, src, x)
	}
	if !slices.Equal(outputs[0], outputs[1]) || !near(wide(gradients[0][0]), wide(gradients[1][0])) {
		t.Errorf("output %v and gradient %v, by the transpose %v and %v", outputs[0], gradients[0], outputs[1], gradients[1])
	}
}

// A parameter has its gradient through a matrix whose first part it is, before a constant.
func TestParameterBesideAConstant(t *testing.T) {
	agrees(t, squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("x", 3), g.Do(gorgonia.Concat(0, g.Param("w", 1, 2), matrix(2, 2)))))
	}))
}

// BatchedMatMul of two matrices is Mul of them.
func TestBatchedProductOfMatrices(t *testing.T) {
	for _, turn := range []bool{false, true} {
		agrees(t, squared(func(g *enginetest.G) node {
			w := g.Param("v", 2, 4)
			if turn {
				w = g.Do(gorgonia.Transpose(w))
			}
			return g.Do(gorgonia.BatchedMatMul(hidden(g, 2), w, false, turn))
		}))
	}
}

// A bias may be added to a first state's product before samples are.
func TestBiasOfAFirstState(t *testing.T) {
	build := squared(func(g *enginetest.G) node {
		state := g.Constant("h", slices.Repeat([]float32{0.5, -1}, g.Batch), g.Batch, 2)
		biased := g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(state, g.Param("u", 2, 4))), g.Param("b", 1, 4), nil, []byte{0}))
		return g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(hidden(g, 4), biased))))
	})
	agrees(t, build)
	src, err := build(enginetest.NewG(3, 1))
	program(t, src, err)
}

// Values derived for the output alone are computed, too.
func TestDerivedForTheOutput(t *testing.T) {
	g := enginetest.NewG(2, 1)
	x, w, v := g.In("x", 2), g.Param("w", 2, 1), g.Param("v", 2, 1)
	cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(x, w))))
	src, err := g.Done(g.Do(gorgonia.Mul(x, g.Do(gorgonia.Square(v)))), g.Do(gorgonia.Add(cost, g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(x, v)))))))
	p := program(t, src, err)
	a, b := float64(p.Initial()[1][0]), float64(p.Initial()[1][1])
	if got := predicted(t, p, []float32{3, 5}); !near(wide(got), []float64{3*a*a + 5*b*b}) {
		t.Errorf("predicts %v, want %v", got, 3*a*a+5*b*b)
	}
}
