package enginetest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The reference and Gorgonia's tape machine agree on the models of this project, in float64.
func TestReferenceIsTheTapeMachine(t *testing.T) {
	for _, name := range []string{"cnn", "mlp"} {
		build := func() compile.Source {
			n, err := models.New(name, []int{1, 28, 28}, 10, models.Options{Double: true})
			if err != nil {
				t.Fatal(err)
			}
			src, err := enginetest.Bound(compile.Source{Inputs: n.Inputs, Params: n.Parameters, Output: n.Output, Cost: n.Cost}, n.Initial(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			return src
		}
		src := build()
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := enginetest.NewReference(src)
		if err != nil {
			t.Fatal(err)
		}
		data := enginetest.RandomData(p, 1, 1)
		var row [][]float32
		for _, c := range data.Columns {
			row = append(row, c.Floats)
		}
		got, err := ref.Gradient(p.Initial(), row)
		if err != nil {
			t.Fatal(err)
		}

		tape := build()
		for i, n := range tape.Inputs {
			wide := make([]float64, len(row[i]))
			for k, v := range row[i] {
				wide[k] = float64(v)
			}
			if err := gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(wide))); err != nil {
				t.Fatal(err)
			}
		}
		grads, err := gorgonia.Grad(tape.Cost, tape.Params...)
		if err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(tape.Cost.Graph())
		defer vm.Close()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		for i, g := range grads {
			for k, want := range g.Value().Data().([]float64) {
				if math.Abs(got[i][k]-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("%s: gradient of %s[%d] is %v, the tape machine's %v", name, src.Params[i].Name(), k, got[i][k], want)
				}
			}
		}
	}
}

// A bias used twice beside one used once, by hand: cost = Σ (xw + b + b + c), so ∂b = 2 and ∂c = 1.
func TestReferenceKeepsSharedGradientsApart(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, w, b, c := g.In("x", 3), g.Param("w", 3, 2), g.Param("b", 1, 2), g.Param("c", 1, 2)
	h := g.Do(gorgonia.Mul(x, w))
	for _, p := range []*gorgonia.Node{b, b, c} {
		h = g.Do(gorgonia.BroadcastAdd(h, p, nil, []byte{0}))
	}
	src, err := g.Done(h, g.Do(gorgonia.Sum(h)))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ref.Gradient([][]float32{make([]float32, 6), {0, 0}, {0, 0}}, [][]float32{{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		if got[1][k] != 2 || got[2][k] != 1 {
			t.Errorf("∂b = %v, ∂c = %v, want 2 and 1", got[1][k], got[2][k])
		}
	}
}

// Sums over any axes of four and more, which package tensor gets wrong, are as computed by hand.
func TestReferenceSums(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, v := g.In("x", 2, 3, 4), g.Param("v", 1, 2, 1, 4)
	src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastHadamardProd(x, v, nil, []byte{2})))))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]float32, 24)
	for i := range in {
		in[i] = float32(i * i)
	}
	got, err := ref.Gradient([][]float32{make([]float32, 8)}, [][]float32{in})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 2 {
		for k := range 4 {
			want := 0.0
			for r := range 3 {
				want += float64(in[c*12+r*4+k])
			}
			if got[0][c*4+k] != want {
				t.Errorf("∂v[%d,%d] = %v, want %v", c, k, got[0][c*4+k], want)
			}
		}
	}
}

// Maxima over inner axes of four are as computed by hand: cost = Σ max_r x[c,r,k] + b[c,r,k], so that the gradient is 1
// at the maximum.
func TestReferenceMaxima(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, b := g.In("x", 2, 3, 4), g.Param("b", 1, 2, 3, 4)
	src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Max(g.Do(gorgonia.Add(x, b)), 2)))))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]float32, 24)
	for i := range in {
		in[i] = float32((i*7 + 3) % 24)
	}
	got, err := ref.Gradient([][]float32{make([]float32, 24)}, [][]float32{in})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 2 {
		for k := range 4 {
			best := max(in[c*12+k], in[c*12+4+k], in[c*12+8+k])
			for r := range 3 {
				at, want := c*12+r*4+k, 0.0
				if in[at] == best {
					want = 1
				}
				if got[0][at] != want {
					t.Errorf("∂b[%d,%d,%d] = %v, want %v", c, r, k, got[0][at], want)
				}
			}
		}
	}
}

// Two references of one graph share nothing: neither Gorgonia's scratch values nor the graph itself.
func TestReferencesAreApart(t *testing.T) {
	src, err := enginetest.Zoo()["a filter that is computed"].Build(1)
	if err != nil {
		t.Fatal(err)
	}
	before := len(src.Cost.Graph().AllNodes())
	for range 2 {
		if _, err := enginetest.NewReference(src); err != nil {
			t.Fatal(err)
		}
	}
	if after := len(src.Cost.Graph().AllNodes()); after != before {
		t.Errorf("the graph had %d nodes and has %d", before, after)
	}
}
