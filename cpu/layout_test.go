package cpu

import (
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
)

// Values that share memory compute the same bits as values with memory of their own, filled with NaN.
func TestSharedSpaceChangesNothing(t *testing.T) {
	for name, z := range enginetest.Zoo() {
		t.Run(name, func(t *testing.T) {
			p := z.Program(t, 2)
			shared, err := lower(p)
			if err != nil {
				t.Fatal(err)
			}
			apart := *shared
			apart.gradient, apart.prediction = byThemselves(p, shared), byThemselves(p, shared)
			if large := name == "cnn" || name == "mlp"; large && apart.gradient.Floats <= shared.gradient.Floats {
				t.Errorf("the layout takes %d floats, without sharing %d", shared.gradient.Floats, apart.gradient.Floats)
			}
			data := enginetest.RandomData(p, 11, 3)
			want, got := everything(t, &apart, data), everything(t, shared, data)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("sums, norms and outputs\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// byThemselves returns a layout with separate memory for each value.
func byThemselves(p *compile.Program, l *lowered) arena.Layout {
	var out arena.Layout
	for _, v := range l.values {
		if v.Type == compile.Int32 {
			out.Offsets = append(out.Offsets, out.Indices)
			out.Indices += v.Size
			continue
		}
		out.Offsets = append(out.Offsets, out.Floats)
		out.Floats += v.Size
	}
	return out
}

// emptySum returns an empty clipped sum on a grid of 2⁻¹⁸.
func emptySum(l *lowered) *sum {
	s := newSum(engine.LayoutOf(l.Program), l.widths())
	s.begin(0x1p-18, 1)
	return s
}

// everything returns the bits of all results of a worker.
func everything(t *testing.T, l *lowered, data *engine.Data) []uint64 {
	t.Helper()
	b := l.bind()
	b.set(l.Initial())
	var err error
	if b.coins, err = coinsOf(l.Program, data, 1); err != nil {
		t.Fatal(err)
	}
	w := l.workspace().(*microbatch)
	for _, rows := range w.memory.gradient {
		for i := range rows.floats {
			rows.floats[i] = float32(math.NaN())
		}
	}
	samples := make([]int32, data.Samples)
	for i := range samples {
		samples[i] = int32(i)
	}
	sum, squared := emptySum(l), make([]float64, data.Samples)
	out := make([]float32, data.Samples*l.Output.Size)
	if err := w.clipped(b, data, samples, 0.5, sum, squared); err != nil {
		t.Fatal(err)
	}
	if l.Output.Value != compile.None {
		if err := w.predict(b, data, 0, data.Samples, out); err != nil {
			t.Fatal(err)
		}
	}
	var bits []uint64
	for _, n := range sum.units {
		bits = append(bits, uint64(n))
	}
	for _, v := range out {
		bits = append(bits, uint64(math.Float32bits(v)))
	}
	for _, v := range squared {
		if v-v != 0 {
			t.Errorf("a squared norm is %v", v)
		}
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

// Equal programs have equal layouts.
func TestLayoutsAreDeterministic(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	for name, z := range enginetest.Zoo() {
		var first *lowered
		for range 10 {
			p := z.Program(t, 2)
			l, err := lower(p)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = l
			} else if !reflect.DeepEqual(l.gradient, first.gradient) || !reflect.DeepEqual(l.prediction, first.prediction) || !reflect.DeepEqual(l.backward, first.backward) {
				t.Fatalf("%s: two layouts differ", name)
			}
		}
	}
}

// A program with an instruction that this engine doesn't know is refused, and the error names the operation.
func TestUnknownOperationsAreNotLowered(t *testing.T) {
	p := enginetest.Zoo()["residual"].Program(t, 2)
	p.Forward[0].Op = 255 // a later version's operation
	if _, err := lower(p); err == nil {
		t.Error("an unknown operation was lowered")
	}
}

// repeatsOf counts repetitions of a whole value in order; it returns 0 for views of a part, or in another order.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		table []int32
		size  int
		want  int
	}{
		{[]int32{0, 1, 2}, 3, 1}, {[]int32{0, 0, 1, 1}, 2, 2}, {[]int32{0, 0, 0}, 1, 3},
		{[]int32{0, 1}, 3, 0}, {[]int32{0, 0}, 2, 0}, {[]int32{0, 1, 0, 1}, 2, 0}, {[]int32{0, 0, 1}, 2, 0}, {[]int32{1, 0}, 2, 0},
	} {
		if got := repeatsOf(c.table, c.size); got != c.want {
			t.Errorf("repeatsOf(%v, %d) = %d, want %d", c.table, c.size, got, c.want)
		}
	}
}
