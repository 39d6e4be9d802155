package enginetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
)

// droppings are graphs with dropout: of a value with other uses too, twice of one value, and after a dropout.
var droppings = map[string]Graph{
	"dropout": {75, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 21)))
		a := g.Do(gorgonia.Add(g.Do(gorgonia.Tanh(h)), g.Do(gorgonia.Dropout(h, 0.5))))
		a = g.Do(gorgonia.Add(a, g.Do(gorgonia.Dropout(g.Do(gorgonia.Sigmoid(h)), 0.3))))
		return g.Squares(g.Do(gorgonia.Add(h, g.Do(gorgonia.Dropout(a, 0.1)))))
	}},
	"dropout of rows": {76, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Dropout(g.In("x", 3, 11), 0.25))
		h = g.Do(gorgonia.Reshape(h, []int{g.Batch * 3, 11}))
		return g.rows(g.Do(gorgonia.Tanh(g.Do(gorgonia.Dropout(g.Do(gorgonia.Mul(h, g.Param("w", 11, 2))), 0.4)))), 6)
	}},
	"random nodes": {77, func(g *G) (compile.Source, error) { return g.noisy(g.normals("a"), g.uniforms("b")) }},
}

const elements = 608 // of each dropout that the check sees, and draws

// keptShares are the shares that the program of [masking] keeps. The first two are equal, so that their masks compare.
var keptShares = []float32{0.5, 0.5, 0.9, 0.25}

// masking returns a program whose gradient is a sample's masks, if the sample is 1 throughout: of each share of
// keptShares, a parameter whose gradient is 1/share where the dropout keeps an element, and 0 elsewhere. Its output is
// its input, dropped.
func masking(t TB) (*compile.Program, engine.Job) {
	t.Helper()
	g := NewG(1, 75)
	x := g.In("x", elements)
	var cost *gorgonia.Node
	for i, share := range keptShares {
		h := g.Do(gorgonia.BroadcastHadamardProd(x, g.Param(fmt.Sprint("w", i), 1, elements), nil, []byte{0}))
		kept := g.Do(gorgonia.Sum(g.Do(gorgonia.Dropout(h, float64(1-share)))))
		if i > 0 {
			kept = g.Do(gorgonia.Add(cost, kept))
		}
		cost = kept
	}
	p := g.program(t, g.Do(gorgonia.Dropout(x, 0.5)), cost)
	return p, plain(p, 0x1p10) // above the norm of any mask
}

// dropout checks that the masks of dropout are a sample's own, that they differ wherever they should, keep the share
// that is asked for, and are those of the job's streams in whole steps; and that predictions have none. Keys are fixed,
// so that nothing fails by chance; a random key would fail in 4·10⁻⁸ of cases: 19 statistics are within 6 standard
// errors.
func dropout(t TB, s Suite) {
	p, j := masking(t)
	const samples = 24
	data := &engine.Data{Samples: samples, Columns: engine.Floats(slices.Repeat([]float32{1}, samples*elements))}
	other := j
	other.Trial++
	few := j
	few.Members = []int32{3, 7, 19}
	runs, done := s.start(t, p, data, j, other, few)
	defer done()
	at := func(run, step int, members ...int32) []float64 {
		restore(t, runs, run, engine.State{Step: step, Params: j.Initial})
		sum, _ := s.clippedSum(t, runs, run, members)
		return sum
	}
	alone := map[[2]int][][]float64{} // by run and step: each sample's masks
	for _, c := range [][2]int{{0, 0}, {0, 1}, {0, 258}, {1, 0}} {
		for i := range int32(samples) {
			alone[c] = append(alone[c], at(c[0], c[1], i))
		}
	}
	masks := alone[[2]int{0, 1}]

	for what, c := range map[string]struct {
		run     int
		members []int32
	}{
		"all together": {0, allOf(samples)}, "some": {0, []int32{0, 7, 8, 21, 23}}, "in another run": {2, []int32{3, 7, 19}},
		"one of its members": {2, []int32{19}},
	} {
		want := make([]float64, len(j.Initial))
		for _, i := range c.members {
			for k, v := range masks[i] {
				want[k] += v
			}
		}
		if !slices.Equal(at(c.run, 1, c.members...), want) {
			t.Errorf("%s: a sample's dropout depends on the other samples", what)
		}
	}

	s.differentMasks(t, alone)
	for k, share := range keptShares {
		kept, n := 0.0, 0.0
		for _, of := range alone {
			for _, sum := range of {
				for _, v := range sum[k*elements:][:elements] {
					n++
					if v != 0 {
						kept++
					}
					if v != 0 && math.Abs(v*float64(share)-1) > 1e-3 {
						t.Fatalf("what dropout keeps of 1 is %v, want 1/%v", v, share)
					}
				}
			}
		}
		p := float64(share)
		if z := (kept - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 6 {
			t.Errorf("dropout keeps a share of %v of %v elements, want %v: %v standard errors", kept/n, n, share, z)
		}
	}

	// Two steps of two runs in one call, and each by itself.
	want := make([]engine.State, 2)
	for run, job := range []engine.Job{j, other} {
		want[run] = engine.State{Step: 1, Params: slices.Clone(j.Initial)}
		for range 2 {
			sum := at(run, want[run].Step, allOf(samples)...)
			After(p, job, &want[run], sum, samples)
		}
	}
	for run := range want {
		restore(t, runs, run, engine.State{Step: 1, Params: j.Initial})
	}
	advance(t, runs, 2, 2, 0)
	for run := range want {
		if d := difference(runs.State(run), want[run]); d != "" {
			t.Errorf("a step's dropout isn't that of its sum: run %d is taken elsewhere in %s", run, d)
		}
	}
	if !sameBits(predicted(t, runs, data, 0), data.Columns[0].Floats) {
		t.Errorf("a prediction drops elements")
	}
}

// differentMasks checks that masks of a half agree in half of their elements with those of other samples, steps,
// trials, instructions and elements. Two elements of a mask of a half are independent, so that the number that agree is
// binomial.
func (s Suite) differentMasks(t TB, alone map[[2]int][][]float64) {
	t.Helper()
	agree := func(what string, each func(pair func(a, b []float64))) {
		n, same := 0.0, 0.0
		each(func(a, b []float64) {
			for i := range min(len(a), len(b)) {
				n++
				if (a[i] != 0) == (b[i] != 0) {
					same++
				}
			}
		})
		if z := (same - n/2) / math.Sqrt(n/4); math.Abs(z) > 6 {
			t.Errorf("%s have %v of %v elements in common: %v standard errors from a half", what, same, n, z)
		}
	}
	half := func(sum []float64) []float64 { return sum[:elements] }
	first := alone[[2]int{0, 0}]
	for what, other := range map[string][][]float64{"step 1": alone[[2]int{0, 1}], "step 258": alone[[2]int{0, 258}], "another trial": alone[[2]int{1, 0}]} {
		agree("the masks of a step and of "+what, func(pair func(a, b []float64)) {
			for i := range first {
				pair(half(first[i]), half(other[i]))
			}
		})
	}
	for _, apart := range []int{1, 2, 8} {
		agree(fmt.Sprintf("the masks of samples %d apart", apart), func(pair func(a, b []float64)) {
			for i := range len(first) - apart {
				pair(half(first[i]), half(first[i+apart]))
			}
		})
	}
	agree("the masks of two instructions", func(pair func(a, b []float64)) {
		for _, sum := range first {
			pair(half(sum), sum[elements:2*elements])
		}
	})
	for _, apart := range []int{1, 2, 7, 8, 16, 32, 64, 512} {
		agree(fmt.Sprintf("elements %d apart of a mask", apart), func(pair func(a, b []float64)) {
			for _, sum := range first {
				pair(half(sum)[apart:], half(sum))
			}
		})
	}
}
