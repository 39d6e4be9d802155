package compile_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A constant -Inf masks: its softmax is 0, and that of a row that is masked as a whole is the same for all elements
// instead of 0/0. So is the gradient finite.
func TestMasks(t *testing.T) {
	no := float32(math.Inf(-1))
	g := enginetest.NewG(2, 1)
	h := g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 6))), tensor.Shape{2, 2, 3}))
	h = g.Do(gorgonia.SoftMax(g.Do(gorgonia.BroadcastAdd(h, g.Constant("mask", []float32{0, no, 0, no, no, no}, 1, 2, 3), nil, []byte{0}))))
	src, err := g.Squares(g.Do(gorgonia.Reshape(h, tensor.Shape{2, 6})))
	p := program(t, src, err)
	x := []float32{1, -2, 0.5}
	got := predicted(t, p, x)
	if got[1] != 0 || got[3] != got[4] || got[4] != got[5] || math.Abs(float64(got[3])-1./3) > 1e-6 {
		t.Errorf("the softmax of masked scores is %v", got)
	}
	w := p.Initial()[0]
	score := func(k int) (s float64) {
		for i, v := range x {
			s += float64(v) * float64(w[6*i+k])
		}
		return s
	}
	if want := 1 / (1 + math.Exp(score(2)-score(0))); math.Abs(float64(got[0])-want) > 1e-6 || math.Abs(float64(got[0]+got[2])-1) > 1e-6 {
		t.Errorf("the softmax of the others is %v, want %v first", got, want)
	}
	for _, v := range trained(t, src, x)[0] {
		if v-v != 0 {
			t.Fatalf("the gradient has %v", v)
		}
	}
}

// Constants that aren't numbers are refused, and large ones that aren't listed, which Gorgonia takes for one another.
func TestConstantsThatWouldBeReadWrong(t *testing.T) {
	for want, values := range map[string]map[string][]float32{
		"isn't finite": {
			"NaN": {1, float32(math.NaN())}, "+Inf": {1, float32(math.Inf(1))},
		},
		"too large": {"nine": make([]float32, 9), "rows": make([]float32, 100)},
		"":          {"-Inf": {1, float32(math.Inf(-1))}, "eight": make([]float32, 8), "listed": make([]float32, 100)},
	} {
		for name, v := range values {
			g := enginetest.NewG(4, 1)
			shape := tensor.Shape{1, len(v)}
			if name == "rows" {
				shape = tensor.Shape{50, 2}
			}
			c := gorgonia.NewConstant(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v)), gorgonia.In(g.Graph))
			if name == "listed" {
				c = g.Constant(name, v, shape...)
			}
			h := hidden(g, shape[len(shape)-1])
			if name == "rows" {
				h = g.Do(gorgonia.Mul(g.Do(gorgonia.Mul(h, g.Param("u", 2, 50))), c))
			} else {
				h = g.Do(gorgonia.BroadcastAdd(h, c, nil, []byte{0}))
			}
			src, err := g.Squares(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := compile.Compile(src); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// A loss that compares the samples of a batch is constant at a batch of one, and compiles to nothing there.
func TestLossesBetweenSamplesAtABatchOfOne(t *testing.T) {
	for name, loss := range map[string]func(g *enginetest.G, s node) node{
		"log softmax": func(g *enginetest.G, s node) node { return g.Do(gorgonia.LogSoftMax(s, 2)) },
		"quotient of exponentials": func(g *enginetest.G, s node) node {
			e := g.Do(gorgonia.Exp(s))
			total := g.Do(gorgonia.Reshape(g.Do(gorgonia.Sum(e, 2)), tensor.Shape{1, 1, 1}))
			return g.Do(gorgonia.Log(g.Do(gorgonia.BroadcastHadamardDiv(e, total, nil, []byte{2}))))
		},
	} {
		g := enginetest.NewG(1, 1)
		u := g.Do(gorgonia.Reshape(hidden(g, 4), tensor.Shape{1, 1, 4}))
		v := g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(g.In("z", 3), g.Param("v", 3, 4))), tensor.Shape{1, 1, 4}))
		similar := g.Do(gorgonia.BatchedMatMul(u, v, false, true)) // [1, batch, batch]
		src, err := g.Done(nil, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(loss(g, similar))))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "a batch of two or more") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Attention over one token has a weight of 1 and trains what comes after it.
	agrees(t, func(g *enginetest.G) (compile.Source, error) {
		h := g.Do(gorgonia.Reshape(hidden(g, 2), tensor.Shape{g.Batch, 1, 2}))
		weights := g.Do(gorgonia.SoftMax(g.Do(gorgonia.BatchedMatMul(h, h, false, true))))
		return g.Squares(g.Do(gorgonia.BatchedMatMul(weights, h)))
	})
}
