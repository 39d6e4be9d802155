package kernel

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"
)

// arena returns float32 slices that end, or begin, where the process's memory does, if the system allows that. A kernel
// that reads beyond its arguments then crashes instead of passing.
type arena struct {
	memory []float32
}

const arenaSize = 1 << 16

// slice returns n elements at the end of the arena, or at its beginning.
func (a *arena) slice(n int, atEnd bool) []float32 {
	if atEnd {
		return a.memory[len(a.memory)-n:]
	}
	return a.memory[:n:n]
}

// specials are the corner cases of float32 arithmetic.
var specials = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	0x1p-126, -0x1p-126, 0x1.fffffep-127, 1 + 0x1p-23, 1 - 0x1p-24, 88.72283, -103.97, 3.4e19,
}

// fill writes random values of the given kind.
func fill(x []float32, r *rand.Rand, k kind) {
	for i := range x {
		switch {
		case k == corners && r.IntN(8) == 0:
			x[i] = specials[r.IntN(len(specials))]
		case k == anyBits:
			x[i] = math.Float32frombits(r.Uint32())
		case k == small:
			x[i] = float32(r.IntN(17) - 8)
		default:
			x[i] = float32(r.NormFloat64())
		}
	}
}

// kind is a distribution of test values.
type kind int

const (
	normal  kind = iota
	corners      // normal with specials among them
	anyBits      // every float32 equally likely
	small        // small whole numbers: ties, and sums without rounding
	kinds
)

// sameBits reports whether two results have equal bits or are both NaN.
func sameBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func wantSame(t rapid.TB, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s: element %d of %d is %v (%#08x), want %v (%#08x)", what, i, len(want),
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
