package cpu

import (
	"maps"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// A program that was changed after compilation is refused, or it runs: no instruction reaches beyond its values.
func TestChangedPrograms(t *testing.T) {
	zoo := enginetest.Zoo()
	names := append(enginetest.Networks(), "convolutions with stride, padding and dilation", "the same filter twice", "transposed within a sample",
		"many rows within a sample", "slices within a sample", "a scalar parameter", "max-pool with overlap and padding", "residual",
		"mean of rows that are looked up", "a table looked up twice", "two tables by one input")
	byHand := slices.Sorted(maps.Keys(enginetest.Handmades(t)))
	started := 0
	rapid.Check(t, func(t *rapid.T) {
		var p *compile.Program
		var params [][]float32
		if rapid.Bool().Draw(t, "by hand") {
			h := enginetest.Handmades(t)[rapid.SampledFrom(byHand).Draw(t, "program")]
			p, params = h.Program, h.Params
		} else {
			p = zoo[rapid.SampledFrom(names).Draw(t, "graph")].Program(t, 1)
			params = p.Initial()
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			enginetest.Corrupt(t, p)
		}
		if p.Check() != nil {
			return // Load does so too
		}
		l, err := lower(p)
		if err != nil {
			return
		}
		started++
		b, w, data := l.bind(), l.workspace(), enginetest.RandomData(p, 3, 1)
		if err := b.set(params); err != nil {
			t.Fatal(err)
		}
		if err := w.clipped(b, data, []int32{0, 1, 2}, 1, emptySum(l), make([]float64, 3)); err != nil {
			t.Fatal(err)
		}
		if p.Output.Value == compile.None {
			return
		}
		if err := w.predict(b, data, 0, 3, make([]float32, 3*p.Output.Size)); err != nil {
			t.Fatal(err)
		}
	})
	if started == 0 && !long.Race { // under the race detector the suite draws few programs
		t.Error("no changed program ran: the test shows nothing")
	}
}

// A view of one element of a parameter gets the whole gradient there, and the other elements get none.
func TestGradientOfOnePlace(t *testing.T) {
	bias := func(strides ...int) []int32 {
		p := enginetest.Zoo()["bias used twice"].Program(t, 1)
		for i := range p.Backward {
			if in := &p.Backward[i]; in.Op == compile.GradSpread && len(strides) > 0 {
				in.View.Strides = strides
			}
		}
		l, err := lower(p)
		if err != nil {
			t.Fatal(err)
		}
		b, sum := l.bind(), emptySum(l)
		if err := b.set(p.Initial()); err != nil {
			t.Fatal(err)
		}
		if err := l.workspace().clipped(b, enginetest.RandomData(p, 1, 1), []int32{0}, 16, sum, make([]float64, 1)); err != nil {
			t.Fatal(err)
		}
		return sum.parts[1]
	}
	whole, one := bias(), bias(0)
	want := int32(0)
	for _, v := range whole {
		want += v
	}
	if d := one[0] - want; d > 16 || d < -16 { // 2⁻¹⁴
		t.Errorf("the one place gets %v of %v", one[0], want)
	}
	for _, v := range one[1:] {
		if v != 0 {
			t.Errorf("other places get %v", one[1:])
		}
	}
}
