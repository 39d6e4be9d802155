package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// doubles returns n doubles at the end of the arena, or at its beginning.
func (a *arena) doubles(n int, atEnd bool) []float64 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&a.slice(2*n, atEnd)[0])), n)
}

// ints returns n int32s at the end of the arena, or at its beginning.
func (a *arena) ints(n int, atEnd bool) []int32 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(&a.slice(n, atEnd)[0])), n)
}

// specialDoubles are the corner cases of float64 arithmetic, of rounding to integers, and of rounding to float32.
var specialDoubles = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.49999999999999994, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 0x1.fp-1040,
	0x1p51 + 0.5, 0x1p52 - 0.5, 0x1p52 + 1, -0x1p53 - 2, 0x1p63, 0x1p-149, 0x1p-150, 0x1.8p-149, 0x1.fffffefp127, 0x1.ffffffp127, 1 + 0x1p-24, 1 + 0x3p-24,
}

func fillDoubles(x []float64, r *rand.Rand, k kind) {
	for i := range x {
		switch {
		case k == corners && r.IntN(3) == 0:
			x[i] = specialDoubles[r.IntN(len(specialDoubles))]
		case k == anyBits:
			x[i] = math.Float64frombits(r.Uint64())
		case k == small:
			x[i] = float64(r.IntN(33)-16) / 4
		default:
			x[i] = r.NormFloat64()
		}
	}
}

func wantSameDoubles(t rapid.TB, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if math.Float64bits(got[i]) != math.Float64bits(w) && (got[i] == got[i] || w == w) {
			t.Fatalf("%s: element %d of %d is %x, want %x", what, i, len(want), got[i], w)
		}
	}
}

// TestUpdateTwins checks every kernel of update.go against its twin, bit for bit, in fenced memory.
func TestUpdateTwins(t *testing.T) {
	var arenas [4]*arena
	for i := range arenas {
		arenas[i] = newArena(t)
	}
	for _, tb := range fast(t) {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			n, atEnd := drawLength(t), rapid.Bool().Draw(t, "at end")
			k := kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind"))
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			power := func() float64 { return math.Ldexp(1, r.IntN(60)-30) }
			constant := func() float64 {
				v := []float64{1, r.Float64(), 63, -r.ExpFloat64(), 0}
				if k == corners {
					v = append(v, specialDoubles...)
				}
				return v[r.IntN(len(v))]
			}
			mean, other := arenas[0].doubles(n, atEnd), arenas[1].doubles(n, atEnd)
			doubles := func() []float64 {
				fillDoubles(mean, r, k)
				fillDoubles(other, r, k)
				return slices.Clone(mean)
			}

			want := doubles()
			c := NoisyMean{constant(), power(), constant()}
			tb.release(mean, other, &c)
			releasePlain(want, other, &c)
			wantSameDoubles(t, "release", mean, want)

			want = doubles()
			units := arenas[2].ints(n, atEnd)
			for i := range units {
				units[i] = r.Int32() >> r.IntN(31)
				if r.IntN(8) == 0 {
					units[i] = []int32{math.MinInt32, math.MaxInt32, -1, 0}[r.IntN(4)]
				}
			}
			tb.addUnits(mean, units)
			addUnitsPlain(want, units)
			wantSameDoubles(t, "addUnits", mean, want)

			want = doubles()
			zeros := slices.Clone(units)
			releaseUnitsPlain(want, zeros, &c)
			tb.releaseUnits(mean, units, &c)
			wantSameDoubles(t, "releaseUnits", mean, want)
			for i, n := range units {
				if n != 0 || zeros[i] != 0 {
					t.Fatalf("releaseUnits left %d in element %d, its twin %d", n, i, zeros[i])
				}
			}

			doubles()
			params, first, second := arenas[0].slice(n, atEnd), arenas[2].slice(n, atEnd), arenas[3].slice(n, atEnd)
			fill(params, r, k)
			fill(first, r, k)
			fill(second, r, k)
			p, m, v, rate := slices.Clone(params), slices.Clone(first), slices.Clone(second), constant()
			tb.sgd(params, other, rate)
			sgdPlain(p, other, rate)
			wantSame(t, "sgd", params, p)

			a := AdamStep{constant(), constant(), constant(), constant(), constant(), constant(), constant()}
			tb.adam(params, first, second, other, &a)
			adamPlain(p, m, v, other, &a)
			wantSame(t, "adam's parameters", params, p)
			wantSame(t, "adam's first moments", first, m)
			wantSame(t, "adam's second moments", second, v)
		}))
	}
}

// Each constant and each rounding affects these values, which were computed by hand.
func TestUpdateByHand(t *testing.T) {
	const n = 21 // more than two registers of any width, and a remainder
	minusZero := math.Copysign(0, -1)
	for _, tb := range tables() {
		for _, c := range []struct {
			z, sum float64
			NoisyMean
			want float64
		}{
			{2.5, 4, NoisyMean{1, 0.25, 0.7}, 1.4},        // ties to even: 2, and 6/4 to 2
			{3.5, -6, NoisyMean{1, 0.25, 0.7}, minusZero}, // 4, and −2/4 to −0
			{0.3, 5, NoisyMean{8, 0.5, 3}, 12},            // 2.4 to 2, and 7/2 to 4
			{0.75, 0x1p51, NoisyMean{2, 1, 1}, 0x1p51 + 2},
			{math.Inf(1), 1, NoisyMean{1, 1, 2}, math.Inf(1)},
		} {
			mean, sum, want := slices.Repeat([]float64{c.z}, n), slices.Repeat([]float64{c.sum}, n), slices.Repeat([]float64{c.want}, n)
			tb.release(mean, sum, &c.NoisyMean)
			wantSameDoubles(t, tb.name, mean, want)
		}
		mean, units := slices.Repeat([]float64{0.3}, n), slices.Repeat([]int32{5}, n)
		tb.releaseUnits(mean, units, &NoisyMean{8, 0.5, 3})
		wantSameDoubles(t, tb.name, mean, slices.Repeat([]float64{12}, n))

		total := slices.Repeat([]float64{0.25}, n)
		tb.addUnits(total, slices.Repeat([]int32{math.MinInt32}, n))
		wantSameDoubles(t, tb.name, total, slices.Repeat([]float64{-0x1p31 + 0.25}, n))

		params := slices.Repeat([]float32{1}, n)
		tb.sgd(params, slices.Repeat([]float64{3}, n), 0.25)
		wantSame(t, tb.name, params, slices.Repeat([]float32{0.25}, n))
		// 1 − (2⁻²⁵ + 2⁻⁴⁰) rounds to 1 − 2⁻²⁴; after rounding the step to 2⁻²⁵ it would be a tie, and 1.
		params = slices.Repeat([]float32{1}, n)
		tb.sgd(params, slices.Repeat([]float64{0x1p-24 + 0x1p-39}, n), 0.5)
		wantSame(t, tb.name, params, slices.Repeat([]float32{1 - 0x1p-24}, n))

		// m = 2, v = 6.75; corrected by 4/3, 9; the step is 1·2 / (3+1).
		params, first, second := slices.Repeat([]float32{1}, n), slices.Repeat([]float32{1}, n), slices.Repeat([]float32{6}, n)
		tb.adam(params, first, second, slices.Repeat([]float64{3}, n), &AdamStep{1, 0.5, 0.5, 0.75, 0.25, 4.0 / 3, 1})
		wantSame(t, tb.name, params, slices.Repeat([]float32{0.5}, n))
		wantSame(t, tb.name, first, slices.Repeat([]float32{2}, n))
		wantSame(t, tb.name, second, slices.Repeat([]float32{6.75}, n))
		// Corrections of 1: the step is 0.5·2 / (√6.25 + 1.5), from v = 4 + 0.25·9.
		params, first, second = slices.Repeat([]float32{1}, n), slices.Repeat([]float32{1}, n), slices.Repeat([]float32{4}, n)
		tb.adam(params, first, second, slices.Repeat([]float64{3}, n), &AdamStep{0.5, 0.5, 0.5, 1, 0.25, 1, 1.5})
		wantSame(t, tb.name, params, slices.Repeat([]float32{0.75}, n))
		wantSame(t, tb.name, second, slices.Repeat([]float32{6.25}, n))
	}
}

func TestUpdateRefusesWrongLengths(t *testing.T) {
	f, d := make([]float32, 3), make([]float64, 2)
	for name, call := range map[string]func(){
		"AddUnits": func() { AddUnits(d, make([]int32, 3)) },
		"Release":  func() { Release(d, make([]float64, 1), &NoisyMean{}) },
		"units":    func() { ReleaseUnits(d, make([]int32, 3), &NoisyMean{}) },
		"SGD":      func() { SGD(f, d, 1) },
		"Adam":     func() { Adam(f, f, f, d, &AdamStep{}) },
		"first":    func() { Adam(f[:2], f, f[:2], d, &AdamStep{}) },
		"second":   func() { Adam(f[:2], f[:2], f, d, &AdamStep{}) },
	} {
		wantPanic(t, name, call)
	}
}

func wantPanic(t *testing.T, name string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	call()
}
