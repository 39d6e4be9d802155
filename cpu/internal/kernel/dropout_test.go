package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestDropoutTwins checks both kernels against their twins, with draws on both sides of the maximum.
func TestDropoutTwins(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			o := drawOperands(t, arenas)
			keep := rapid.Float32Range(0.01, 1).Draw(t, "keep")
			maximum := rapid.OneOf(rapid.SampledFrom([]uint32{0, 1, 1<<31 - 1, 1 << 31, math.MaxUint32}), rapid.Uint32()).Draw(t, "maximum")
			words := (len(o.dst) + 1) / 2
			draws := fencedWords(arenas[2], words)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			draw := func() uint64 {
				switch r.IntN(4) {
				case 0:
					return uint64(maximum) // the last draw that keeps
				case 1:
					return uint64(maximum + 1)
				}
				return uint64(r.Uint32())
			}
			for i := range draws {
				draws[i] = draw() | draw()<<32
			}
			for _, kernel := range []func(tb *table, o operands){
				func(tb *table, o operands) { tb.addDropout(o.dst, o.a, draws, maximum, keep) },
				func(tb *table, o operands) { tb.dropout(o.dst, o.a, draws, maximum, keep) },
			} {
				want := twin(operands{dst: o.dst, a: o.a, b: o.a}, func(o operands) { kernel(&plain, o) })
				kernel(tb, o)
				wantSame(t, "dropout", o.dst, want)
			}
		}))
	}
}

// fencedWords returns n words at the beginning of an arena.
func fencedWords(a *arena, n int) []uint64 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&a.slice(2*n, false)[0])), n)
}

// Each half of a word decides on an element, the low half first; a dropped element is 0, whatever it was.
func TestDropout(t *testing.T) {
	const most = 100
	draws := []uint64{100 | 101<<32, 101 | 0<<32, math.MaxUint32 | 100<<32}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	got := []float32{9, 9, 9, 9, 9}
	Dropout(got, []float32{1, 2, nan, 3, inf}, draws, most, 0.5)
	wantSame(t, "Dropout", got, []float32{2, 0, 0, 6, 0})
	AddDropout(got, []float32{1, nan, inf, -3, 2}, draws, most, 0.5)
	wantSame(t, "AddDropout", got, []float32{4, 0, 0, 0, 0})
}
