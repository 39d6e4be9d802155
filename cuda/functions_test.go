package cuda

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// functionProbe is a kernel for tests: it shows a function's values and derivatives.
const functionProbe = `
#include "functions.cuh"

KERNEL(show_functions)(int f, int n, global<const float> as, global<const float> bs, global<float> out) {
	for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) {
		float a = as[i], b = bs[i], z = f < f_add ? unary(f, a) : binary(f, a, b);
		out[3 * i] = z;
		out[3 * i + 1] = f < f_add ? unary_derivative(f, a, z) : binary_derivative(f, 0, a, b, z);
		out[3 * i + 2] = f < f_add ? 0.0f : binary_derivative(f, 1, a, b, z);
	}
}
EXPORT(show_functions)
`

// The elementwise functions and their derivatives are those of package compile, by their numbers, as nearly as single
// precision has them: at their corners, for equal operands, and for what isn't finite, too.
func TestFunctionsAreTheCompilers(t *testing.T) {
	kernelsOrSkip(t)
	l, err := build(t.Context(), fstest.MapFS{"probe.cu": &fstest.MapFile{Data: []byte(functionProbe)}})
	if err != nil {
		t.Fatal(err)
	}
	functionsOf(t, l)
}

func functionsOf(t enginetest.TB, l *emulator.Library) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	numbers := []float32{0, 1, -1, 0.5, -0.5, 2, 3, -3, 1.25, 1e-3, -1e-3, 1e-7, -1e-7, 20, -20, 60, -60, 100, -100, inf, -inf, nan}
	var as, bs []float32
	for _, a := range numbers {
		for _, b := range numbers {
			as, bs = append(as, a), append(bs, b)
		}
	}
	d, done := device(t, on(l), 1)
	defer done()
	out := space(t, d, 3*len(as))
	near := func(got float32, want, little float64) bool {
		w := float64(float32(want))
		return math.IsNaN(w) && got != got || float64(got) == w || math.Abs(float64(got)-want) <= 1e-5*math.Abs(want)+little
	}
	for f := range compile.Func(128) {
		if f.String() == "" {
			continue
		}
		if err := d.Launch("show_functions", 1, 32, int32(f), int32(len(as)), putOn(t, d, as), putOn(t, d, bs), out); err != nil {
			t.Fatal(err)
		}
		got := get[float32](t, d, out, 0, 3*len(as))
		for i, a := range as {
			x, y := float64(a), float64(bs[i])
			var want []float64
			if f < compile.Add {
				z := f.Unary(x)
				want = []float64{z, f.UnaryDerivative(x, z)}
			} else {
				z := f.Binary(x, y)
				if want = []float64{z}; f <= compile.Pow || f >= compile.Maximum { // comparisons have no gradient
					want = append(want, f.BinaryDerivative(0, x, y, z), f.BinaryDerivative(1, x, y, z))
				}
			}
			for k, w := range want {
				little := 1e-37
				if k > 0 { // some derivatives are taken from values near 1
					little = 1e-7
				}
				if !near(got[3*i+k], w, little) {
					t.Errorf("%s of %v and %v: number %d is %v, want %v", f, a, bs[i], k, got[3*i+k], w)
				}
			}
		}
	}
}
