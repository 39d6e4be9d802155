package compile_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// refusal is a graph with a batch in which an operation is refused.
type refusal struct {
	build func(g *enginetest.G) (compile.Source, error)
	mixes bool
	want  string
}

// hidden returns a value of the given number of features for each sample.
func hidden(g *enginetest.G, features int) *gorgonia.Node {
	return g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, features)))
}

// vector returns one number for each sample, in one axis.
func vector(g *enginetest.G, name string) *gorgonia.Node {
	return g.Do(gorgonia.Mul(g.In("x"+name, 3), g.Param("w"+name, 3)))
}

// costAndSum combines the cost with a sum over the batch alone by f, element by element. The result isn't a sum of
// per-sample costs.
func costAndSum(f func(a, b *gorgonia.Node) (*gorgonia.Node, error), swap bool) func(g *enginetest.G) (compile.Source, error) {
	return func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		a, b := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), g.Do(gorgonia.Sum(h, 0))
		if swap {
			a, b = b, a
		}
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(f(a, b)))))
	}
}

// refusals are graphs for a batch of four.
var refusals = map[string]refusal{
	"batch normalisation": {func(g *enginetest.G) (compile.Source, error) {
		x, s, b := g.In("x", 2, 3, 3), g.Param("s", g.Batch, 2, 3, 3), g.Param("b", g.Batch, 2, 3, 3)
		h, _, _, _, err := gorgonia.BatchNorm(x, s, b, 0.9, 1e-5)
		return g.Squares(g.Do(h, err))
	}, true, "it normalises by statistics of the batch"},
	"product that contracts the batch": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Mul(g.Param("v", 5, g.Batch), g.In("x", 3))))
	}, true, "it contracts the batch axis; put the batch first, as in Mul(x, w)"},
	"matrix times a vector over the batch": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Mul(g.Param("v", 5, g.Batch), vector(g, ""))))
	}, true, "it contracts the batch axis; put the batch first, as in Mul(x, w)"},
	"product of two batches": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Mul(hidden(g, g.Batch), g.In("z", 2))))
	}, true, "it multiplies values of all samples with one another"},
	"matrix times vector of two batches": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Mul(hidden(g, g.Batch), vector(g, "v"))))
	}, true, "it multiplies values of all samples with one another"},
	"outer product of two batches": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.OuterProd(vector(g, "a"), vector(g, "b"))))
	}, true, "it multiplies values of all samples with one another"},
	"softmax over the batch": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.SoftMax(hidden(g, 2), 0)))
	}, true, "it normalises over the batch axis"},
	"square of the cost": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Square(g.Do(gorgonia.Sum(h)))))
	}, true, "it is applied to a sum over the batch; only the final cost may be one"},
	"function of a sum over the batch alone": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Tanh(g.Do(gorgonia.Sum(h, 0)))))))
	}, true, "it is applied to a sum over the batch; only the final cost may be one"},
	"product of costs": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(h)), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))))
	}, true, "it is applied to a sum over the batch; only the final cost may be one, and only be scaled or added to"},
	"number divided by the cost": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Div(g.Number(1), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))))
	}, true, "it is applied to a sum over the batch; only the final cost may be one, and only be scaled or added to"},
	"samples times a sum over the batch": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Squares(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Sum(h)))))
	}, true, "it is applied to a sum over the batch; only the final cost may be one, and only be scaled or added to"},
	"rows of all samples": {func(g *enginetest.G) (compile.Source, error) {
		ids := g.Do(gorgonia.Reshape(g.Ids("ids", 7), tensor.Shape{7 * g.Batch}))
		return g.Squares(g.Do(gorgonia.ByIndices(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))), ids, 0)))
	}, true, "it picks among the rows of all samples"},

	"attention": {func(g *enginetest.G) (compile.Source, error) {
		rows := g.Do(gorgonia.Reshape(g.In("x", 3, 2), tensor.Shape{3 * g.Batch, 2}))
		head := func(name string) *gorgonia.Node {
			return g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(rows, g.Param(name, 2, 2))), tensor.Shape{g.Batch, 3, 2}))
		}
		return g.Squares(g.Do(gorgonia.BatchedMatMul(head("q"), g.Do(gorgonia.Transpose(head("k"), 0, 2, 1)))))
	}, false, "no per-sample rule: both operands depend on the sample; build the graph with a batch of one"},
	"dot product of two batches": {func(g *enginetest.G) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Mul(vector(g, "a"), vector(g, "b"))))
	}, false, "no per-sample rule: both operands depend on the sample; build the graph with a batch of one"},
	"dot product with a parameter for each place": {func(g *enginetest.G) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Mul(g.Param("v", g.Batch), vector(g, ""))))
	}, false, "no per-sample rule: only Mul(x, w)"},
	"batched product with a parameter for each place": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.BatchedMatMul(g.Param("v", g.Batch, 2, 3), g.In("x", 3, 2))))
	}, false, "no per-sample rule: only Mul(x, w)"},
	"product with the batch transposed": {func(g *enginetest.G) (compile.Source, error) {
		// Only Conv2d multiplies by a transpose.
		conv := g.Do(gorgonia.Conv2d(g.Param("image", 1, 1, 2, 2), g.Param("filter", 1, 1, 2, 2), tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		for n := range gorgonia.WalkGraph(conv) {
			if n.Op() == nil {
				continue
			}
			if kind, _ := compile.KindAndOperator(n.Op()); kind == "linAlgBinOp" {
				return g.Squares(g.Do(gorgonia.ApplyOp(n.Op(), g.Param("v", 5, 3), g.In("x", 3))))
			}
		}
		return compile.Source{}, errors.New("Conv2d makes no product")
	}, false, "no per-sample rule: only Mul(x, w)"},
	"mean over the batch": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)))))
	}, false, "training divides by the expected batch size already; use Sum instead of Mean"},
	"batch size, and added": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		n := g.Do(gorgonia.SizeOf(0, h))
		return g.Squares(g.Do(gorgonia.Add(h, n)))
	}, false, "computes with the batch size"},
	"batch size squared": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		n := g.Do(gorgonia.SizeOf(0, h))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Mul(n, n)))))
	}, false, "computes with the batch size"},
	"batch moved from the front": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Transpose(hidden(g, 2))))
	}, false, "no per-sample rule: it moves the batch away from the first axis"},
	"rows across samples": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Reshape(hidden(g, 3), tensor.Shape{3, g.Batch})))
	}, false, "no per-sample rule: it moves the batch away from the first axis"},
	"one sample picked": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Slice(hidden(g, 2), gorgonia.S(1))))
	}, false, "it picks samples out of the batch by their places; use "},
	"a parameter for each place in the batch": {func(g *enginetest.G) (compile.Source, error) {
		return g.Squares(g.Do(gorgonia.Add(g.In("x", 3), g.Param("b", g.Batch, 3))))
	}, false, "it gives each place in the batch its own parameter; use "},
	"cost times a parameter": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Mul(g.Param("s"), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))))
	}, false, "with a parameter, which has no share in any one sample's cost; use "},
	"negative of a sum over the batch alone": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)), 0)))))))
	}, false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
	"sums over the batch alone, added": {func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		s := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)), 0))
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Add(s, g.Do(gorgonia.Sum(h, 0)))))))
	}, false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
	"a cost plus a sum over the batch alone": {costAndSum(gorgonia.Add, false), false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
	"a sum over the batch alone plus a cost": {costAndSum(gorgonia.Add, true), false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
	"a cost less a sum over the batch alone": {costAndSum(gorgonia.Sub, false), false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
	"a sum over the batch alone less a cost": {costAndSum(gorgonia.Sub, true), false, "it is applied to a sum over the batch alone; use Sum over all axes at once"},
}

// Gorgonia's own machine shows that each operation refused for mixing samples mixes them; and an operation refused for
// another reason isn't said to mix.
func TestMixing(t *testing.T) {
	for name, p := range refusals {
		t.Run(name, func(t *testing.T) {
			src, err := p.build(enginetest.NewG(4, 1))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compile.Compile(src)
			var mix *compile.MixError
			if !errors.Is(err, compile.ErrSource) || errors.As(err, &mix) != p.mixes || !strings.Contains(err.Error(), p.want) {
				t.Fatalf("got %v, want %q from a MixError: %v", err, p.want, p.mixes)
			}
			if strings.Contains(err.Error(), "\n") || !p.mixes && strings.Contains(err.Error(), "mixes") {
				t.Errorf("%q has more than one line, or says that samples are mixed", err)
			}
			if m := mixed(t, p); m != p.mixes {
				t.Errorf("Gorgonia's machine mixes samples: %v, want %v", m, p.mixes)
			}
		})
	}
}

// mixed reports whether the first sample's contribution to the cost depends on the second. Gorgonia evaluates the cost
// for two values of each.
func mixed(t *testing.T, p refusal) bool {
	t.Helper()
	at := func(first, second uint64) float64 {
		src, err := p.build(enginetest.NewG(4, 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range src.Inputs {
			let(t, n, i, []uint64{first, second, 5, 6})
		}
		machine := gorgonia.NewTapeMachine(src.Cost.Graph())
		defer machine.Close()
		if err := machine.RunAll(); err != nil {
			t.Fatal(err)
		}
		cost, err := strconv.ParseFloat(fmt.Sprint(src.Cost.Value().Data()), 64)
		if err != nil {
			t.Fatal(err)
		}
		return cost
	}
	a, b, c, d := at(1, 2), at(3, 2), at(1, 4), at(3, 4)
	scale := math.Abs(a) + math.Abs(b) + math.Abs(c) + math.Abs(d)
	if math.Abs(a-b)+math.Abs(a-c) < 1e-4*scale && p.mixes {
		t.Error("the cost depends on neither sample")
	}
	return math.Abs(a-b-c+d) > 1e-4*scale
}

// let binds an input to samples drawn from one seed each. Integers are positions of the four samples.
func let(t *testing.T, n *gorgonia.Node, input int, seeds []uint64) {
	t.Helper()
	each := n.Shape().TotalSize() / len(seeds)
	var floats []float32
	var integers []int
	for _, seed := range seeds {
		r := rand.New(rand.NewPCG(seed, uint64(input)))
		for range each {
			floats, integers = append(floats, 2*float32(r.NormFloat64())), append(integers, r.IntN(len(seeds)))
		}
	}
	var backing any = floats
	if n.Dtype() == tensor.Int {
		backing = integers
	}
	if err := gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(backing))); err != nil {
		t.Fatal(err)
	}
}

// An operation that repeats a sample by the batch size is refused for that, even at a batch of one, where it mixes
// nothing.
func TestRepeatedByTheBatchSize(t *testing.T) {
	g := enginetest.NewG(1, 1)
	src, err := g.Squares(g.Do(gorgonia.BroadcastAdd(hidden(g, 2), g.In("z", 2), nil, []byte{0})))
	if err != nil {
		t.Fatal(err)
	}
	_, err = compile.Compile(src)
	var refused *compile.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "repeats a value that isn't a parameter by the batch size") {
		t.Errorf("got %v", err)
	}
}

// One of the refusals shows every reason that the code gives for mixing.
func TestEveryMixingReasonIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range refusals {
		if p.mixes {
			shown[p.want] = true
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	reasons := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "mixes" {
				return true
			}
			reasons++
			text, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				return true // the list's own reason, batch normalisation's for example
			}
			if why, err := strconv.Unquote(text.Value); err != nil || !shown[why] {
				t.Errorf("%s: no place shows that samples mix where %s", f, text.Value)
			}
			return true
		})
	}
	if reasons < 7 {
		t.Errorf("found %d reasons only: the test shows nothing", reasons)
	}
}
