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

// everything returns the program of a graph with derived values, products of a sample's own values, a normalisation,
// two dropouts and weight decay.
func everything(t *testing.T) *compile.Program {
	t.Helper()
	g := enginetest.NewG(1, 1)
	w := g.Param("w", 4, 10)
	h := g.Do(gorgonia.Dropout(g.Do(gorgonia.Mul(g.In("x", 4), g.Do(gorgonia.Tanh(w)))), 0.5))
	d := spelled{g, h}.less(h, spelled{g, h}.mean(h))
	h = spelled{g, h}.over(d, spelled{g, h}.root(spelled{g, h}.plus(spelled{g, h}.mean(spelled{g, h}.square(d)), 0.1)))
	h = g.Do(gorgonia.Reshape(h, tensor.Shape{1, 2, 5}))
	h = g.Do(gorgonia.Dropout(g.Do(gorgonia.BatchedMatMul(h, g.Do(gorgonia.Sigmoid(h)), false, true)), 0.25))
	h = g.Do(gorgonia.Concat(2, h, g.Do(gorgonia.Tanh(h))))
	cost := g.Do(gorgonia.Add(g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(w))))))
	src, err := g.Done(h, cost)
	return program(t, src, err)
}

// Each case is that program with one fault, and the error that names it.
func TestCheckRefusesCorruptDerivedValues(t *testing.T) {
	derived := func(t *testing.T, p *compile.Program) compile.ID {
		for id, v := range p.Values {
			if v.Kind == compile.Derived {
				return compile.ID(id)
			}
		}
		t.Fatal("there is no derived value")
		return compile.None
	}
	dropout := func(t *testing.T, p *compile.Program) *compile.Instruction {
		return find(t, p.Forward, compile.Dropout)
	}
	for name, c := range map[string]struct {
		want  string
		spoil func(t *testing.T, p *compile.Program)
	}{
		"a derived value that isn't computed": {"prepare doesn't write it", func(t *testing.T, p *compile.Program) { p.Prepare = nil }},
		"a sample's value in prepare":         {"can't be value", func(t *testing.T, p *compile.Program) { p.Prepare[0].In[0] = p.Inputs[0].Value }},
		"prepare that writes for each sample": {"can't be value", func(t *testing.T, p *compile.Program) {
			p.Values[derived(t, p)].Kind = compile.Buffer
		}},
		"an operation on samples in prepare": {"needs samples", func(t *testing.T, p *compile.Program) { p.Prepare[0].Op = compile.MatMul }},
		"a normalisation in prepare":         {"needs samples", func(t *testing.T, p *compile.Program) { p.Prepare[0].Op = compile.Normalize }},
		"dropout in prepare":                 {"needs samples", func(t *testing.T, p *compile.Program) { p.Prepare[0].Op = compile.Dropout }},
		"a derived value of integers":        {"holds integers", func(t *testing.T, p *compile.Program) { p.Values[derived(t, p)].Type = compile.Int32 }},
		"a derived value for a sample's": {"can't be value", func(t *testing.T, p *compile.Program) {
			find(t, p.Forward, compile.Unary).In[0] = derived(t, p)
		}},
		"an output that is derived": {"doesn't write", func(t *testing.T, p *compile.Program) {
			v := p.Values[derived(t, p)]
			p.Output = compile.Tensor{Name: "out", Shape: v.Shape, Size: v.Size, Value: derived(t, p)}
		}},
		"no groups":       {"0 groups", func(t *testing.T, p *compile.Program) { find(t, p.Forward, compile.Product).Groups = 0 }},
		"too many groups": {"size", func(t *testing.T, p *compile.Program) { find(t, p.Forward, compile.Product).Groups++ }},
		"product with a parameter": {"can't be value", func(t *testing.T, p *compile.Program) {
			find(t, p.Forward, compile.Product).In[1] = p.Params[0].Value
		}},
		"product that adds in forward": {"written", func(t *testing.T, p *compile.Program) {
			find(t, p.Forward, compile.Product).Accumulate = true
		}},
		"gather that adds in forward": {"before backward", func(t *testing.T, p *compile.Program) {
			for i := range p.Forward {
				if in := &p.Forward[i]; in.Op == compile.Scatter && in.Accumulate {
					in.Op = compile.Gather
					in.View = compile.ViewOf([]int{p.Values[in.Out].Size})
					in.In[0] = p.Params[0].Value
					return
				}
			}
			t.Fatal("nothing is joined")
		}},
		"negative ε": {"to the variance", func(t *testing.T, p *compile.Program) { find(t, p.Forward, compile.Normalize).Scalar = -1 }},
		"infinite ε": {"to the variance", func(t *testing.T, p *compile.Program) {
			find(t, p.Backward, compile.NormalizeBack).Scalar = float32(math.Inf(1))
		}},
		"ε that is NaN": {"to the variance", func(t *testing.T, p *compile.Program) {
			find(t, p.Forward, compile.Normalize).Scalar = float32(math.NaN())
		}},
		"all is dropped":             {"a share of 0", func(t *testing.T, p *compile.Program) { dropout(t, p).Scalar = 0 }},
		"more is kept than there is": {"a share of 1.5", func(t *testing.T, p *compile.Program) { dropout(t, p).Scalar = 1.5 }},
		"a share that is NaN":        {"a share of NaN", func(t *testing.T, p *compile.Program) { dropout(t, p).Scalar = float32(math.NaN()) }},
		"draws between blocks":       {"aren't among", func(t *testing.T, p *compile.Program) { dropout(t, p).Draw = 1 }},
		"draws before the first":     {"aren't among", func(t *testing.T, p *compile.Program) { dropout(t, p).Draw = -16 }},
		"draws beyond the last":      {"aren't among", func(t *testing.T, p *compile.Program) { dropout(t, p).Draw = p.Draws }},
		"fewer draws":                {"aren't among", func(t *testing.T, p *compile.Program) { p.Draws = 16 }},
		"draws that are no blocks":   {"want a multiple", func(t *testing.T, p *compile.Program) { p.Draws++ }},
		"negative draws":             {"want a multiple", func(t *testing.T, p *compile.Program) { p.Draws = -16 }},
		"more normals than draws": {"aren't among", func(t *testing.T, p *compile.Program) {
			*dropout(t, p) = compile.Instruction{Op: compile.Normals, Out: dropout(t, p).Out, Where: compile.None, Draw: p.Draws - 16}
		}},
		"a prediction that draws normals": {"draws nothing", func(t *testing.T, p *compile.Program) {
			p.Predict[0] = compile.Instruction{Op: compile.Normals, Out: p.Predict[0].Out, Where: compile.None}
		}},
		"a prediction that draws": {"draws nothing", func(t *testing.T, p *compile.Program) {
			p.Predict = append([]compile.Instruction(nil), p.Forward...)
		}},
		"a copy of what is the same for all, as an operand": {"same for all", func(t *testing.T, p *compile.Program) {
			in := find(t, p.Forward, compile.MatMul)
			*in = compile.Instruction{Op: compile.Binary, Func: compile.Add, In: []compile.ID{sharedValue(p), sharedValue(p)}, Out: in.Out, Where: compile.None}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := everything(t)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, p)
			if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			_ = p.String()
		})
	}
}

// sharedValue adds a value that repeats a number of the first parameter, of the size of the first product.
func sharedValue(p *compile.Program) compile.ID {
	n := 0
	for _, in := range p.Forward {
		if in.Op == compile.MatMul {
			n = p.Values[in.Out].Size
		}
	}
	v := compile.View{Shape: []int{n}, Strides: []int{0}}
	p.Values = append(p.Values, compile.Value{Kind: compile.Shared, Shape: []int{n}, Size: n, Source: p.Params[0].Value, View: v})
	return compile.ID(len(p.Values) - 1)
}
