package compile_test

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
	for _, name := range enginetest.Networks() {
		build := func() compile.Source {
			n, err := enginetest.Network(name, models.Options{Double: true})
			if err != nil {
				t.Fatal(err)
			}
			src, err := enginetest.Bound(n, rand.NewPCG(1, 2))
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
		ref, err := compile.NewReference(src)
		if err != nil {
			t.Fatal(err)
		}
		data := enginetest.RandomData(p, 1, 1)
		var row [][]float32
		for _, c := range data.Columns {
			row = append(row, c.Floats)
		}
		got, err := ref.Gradient(bind(t, ref, p.Initial()), row)
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

func bind(t *testing.T, ref *compile.Reference, params [][]float32) compile.Bound {
	t.Helper()
	b, err := ref.Bind(params)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	ref, err := compile.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ref.Gradient(bind(t, ref, [][]float32{make([]float32, 6), {0, 0}, {0, 0}}), [][]float32{{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		if got[1][k] != 2 || got[2][k] != 1 {
			t.Errorf("∂b = %v, ∂c = %v, want 2 and 1", got[1][k], got[2][k])
		}
	}
}
