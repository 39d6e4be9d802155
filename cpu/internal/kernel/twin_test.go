package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// fast lists the implementations to check against the plain one.
func fast(t *testing.T) []*table {
	all := tables()[1:]
	if len(all) == 0 {
		t.Skip("this processor runs the plain kernels")
	}
	return all
}

// operands are up to three slices of one length between fences, filled at random.
type operands struct {
	dst, a, b []float32
	scalar    float32
}

func drawOperands(t *rapid.T, arenas [3]*arena) operands {
	n := drawLength(t)
	atEnd := rapid.Bool().Draw(t, "at end")
	k := kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	var o operands
	o.dst, o.a, o.b = arenas[0].slice(n, atEnd), arenas[1].slice(n, atEnd), arenas[2].slice(n, atEnd)
	var s [1]float32
	for _, x := range [][]float32{o.dst, o.a, o.b, s[:]} {
		fill(x, r, k)
	}
	o.scalar = s[0]
	switch rapid.IntRange(0, 3).Draw(t, "alias") {
	case 1:
		o.a = o.dst
	case 2:
		o.b = o.dst
	case 3:
		o.a, o.b = o.dst, o.dst
	}
	return o
}

// drawLength favours the remainders after whole registers, and after the reductions' 64 partial sums.
func drawLength(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(60, 140), rapid.IntRange(250, 300)).Draw(t, "n")
}

func newArenas(t testing.TB) [3]*arena { return [3]*arena{newArena(t), newArena(t), newArena(t)} }

// TestElementwiseTwins checks every elementwise kernel against its twin, bit for bit.
func TestElementwiseTwins(t *testing.T) {
	kernels := map[string]func(tb *table, o operands){
		"add":           func(tb *table, o operands) { tb.add(o.dst, o.a, o.b) },
		"sub":           func(tb *table, o operands) { tb.sub(o.dst, o.a, o.b) },
		"mul":           func(tb *table, o operands) { tb.mul(o.dst, o.a, o.b) },
		"div":           func(tb *table, o operands) { tb.div(o.dst, o.a, o.b) },
		"addScalar":     func(tb *table, o operands) { tb.addScalar(o.dst, o.a, o.scalar) },
		"mulScalar":     func(tb *table, o operands) { tb.mulScalar(o.dst, o.a, o.scalar) },
		"subFromScalar": func(tb *table, o operands) { tb.subFromScalar(o.dst, o.a, o.scalar) },
		"divScalarBy":   func(tb *table, o operands) { tb.divScalarBy(o.dst, o.a, o.scalar) },
		"mulAdd":        func(tb *table, o operands) { tb.mulAdd(o.dst, o.a, o.b) },
		"square":        func(tb *table, o operands) { tb.square(o.dst, o.a) },
		"neg":           func(tb *table, o operands) { tb.neg(o.dst, o.a) },
		"abs":           func(tb *table, o operands) { tb.abs(o.dst, o.a) },
		"sqrt":          func(tb *table, o operands) { tb.sqrt(o.dst, o.a) },
		"larger":        func(tb *table, o operands) { tb.larger(o.dst, o.a, o.b) },
		"smaller":       func(tb *table, o operands) { tb.smaller(o.dst, o.a, o.b) },
		"atLeast":       func(tb *table, o operands) { tb.atLeast(o.dst, o.a, o.b) },
		"largerScalar":  func(tb *table, o operands) { tb.largerScalar(o.dst, o.a, o.scalar) },
		"smallerScalar": func(tb *table, o operands) { tb.smallerScalar(o.dst, o.a, o.scalar) },
		"atLeastScalar": func(tb *table, o operands) { tb.atLeastScalar(o.dst, o.a, o.scalar) },
		"atMostScalar":  func(tb *table, o operands) { tb.atMostScalar(o.dst, o.a, o.scalar) },
	}
	arenas := newArenas(t)
	for name, kernel := range kernels {
		for _, tb := range fast(t) {
			t.Run(name+"/"+tb.name, rapid.MakeCheck(func(t *rapid.T) {
				o := drawOperands(t, arenas)
				want := twin(o, func(o operands) { kernel(&plain, o) })
				kernel(tb, o)
				wantSame(t, name, o.dst, want)
			}))
		}
	}
}

// twin runs f on a copy of o, with o's aliasing, and returns the copy's dst.
func twin(o operands, f func(operands)) []float32 {
	p := operands{dst: append([]float32(nil), o.dst...), scalar: o.scalar}
	p.a, p.b = append([]float32(nil), o.a...), append([]float32(nil), o.b...)
	if len(o.dst) > 0 && &o.a[0] == &o.dst[0] {
		p.a = p.dst
	}
	if len(o.dst) > 0 && &o.b[0] == &o.dst[0] {
		p.b = p.dst
	}
	f(p)
	return p.dst
}

// TestReductionTwins checks the reductions against their twins: every bit, so every addition in order.
func TestReductionTwins(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			o := drawOperands(t, arenas)
			wantSame(t, "dot", []float32{tb.dot(o.a, o.b)}, []float32{dotPlain(o.a, o.b)})
			wantSame(t, "sum", []float32{tb.sum(o.a)}, []float32{sumPlain(o.a)})
			got, want := tb.maximum(o.a), maximumPlain(o.a)
			if got != want && (got == got || want == want) { // the sign of zero is free
				t.Fatalf("maximum is %v, want %v", got, want)
			}
			wantSame(t, "largest magnitude", []float32{tb.maxAbs(o.a)}, []float32{maxAbsPlain(o.a)})
		}))
	}
}

func TestTransposeTwin(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			rows, cols := rapid.IntRange(0, 70).Draw(t, "rows"), rapid.IntRange(0, 70).Draw(t, "cols")
			x := arenas[0].slice(rows*cols, rapid.Bool().Draw(t, "at end"))
			fill(x, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), anyBits)
			got, want := arenas[1].slice(rows*cols, true), make([]float32, rows*cols)
			tb.transpose(got, rows, x, cols, rows, cols)
			transposePlain(want, rows, x, cols, rows, cols)
			wantSame(t, "transpose", got, want)
		}))
	}
}
