package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// The interpreter's gradients of functions are their central differences.
func TestInterpretedSlopes(t *testing.T) {
	const h = 1e-6
	near := func(what string, got, up, down float64) {
		t.Helper()
		if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("%s: the slope is %v, by differences %v", what, got, want)
		}
	}
	for f := compile.Abs; f <= compile.Softplus; f++ {
		for _, x := range []float64{0.3, 1.7, 2.4} {
			near(f.String(), unarySlope(f, x), unaryOf(f, x+h), unaryOf(f, x-h))
			if slope, ok := slopeByValue(f, unaryOf(f, x)); ok {
				near(f.String()+" by its value", slope, unaryOf(f, x+h), unaryOf(f, x-h))
			}
		}
	}
	for _, f := range []compile.Func{compile.Add, compile.Sub, compile.Mul, compile.Div, compile.Pow, compile.Maximum, compile.Minimum} {
		for _, v := range [][2]float64{{0.3, 1.2}, {1.7, 0.4}} {
			a, b := v[0], v[1]
			near(f.String(), binarySlope(f, 0, a, b), binaryOf(f, a+h, b), binaryOf(f, a-h, b))
			near(f.String(), binarySlope(f, 1, a, b), binaryOf(f, a, b+h), binaryOf(f, a, b-h))
		}
	}
	for _, f := range []compile.Func{compile.Maximum, compile.Minimum} {
		if binarySlope(f, 0, 2, 2) != 1 || binarySlope(f, 1, 2, 2) != 0 {
			t.Errorf("%v: of equals the second has the gradient", f)
		}
	}
}

// The interpreter's gradients of operations on rows are central differences of Σ weight∘operation(x).
func TestInterpretedRows(t *testing.T) {
	const h = 1e-6
	r := rand.New(rand.NewPCG(1, 2))
	for forward, back := range map[compile.Op]compile.Op{
		compile.Normalize: compile.NormalizeBack, compile.Softmax: compile.SoftmaxBack, compile.LogSoftmax: compile.LogSoftmaxBack,
	} {
		in, in2 := compile.Instruction{Op: forward, Rows: 3, K: 5}, compile.Instruction{Op: back, Rows: 3, K: 5}
		if forward == compile.Normalize {
			in.Scalar, in2.Scalar = 0.25, 0.25
		}
		x, weight := make([]float64, 15), make([]float64, 15)
		for i := range x {
			x[i], weight[i] = 3*r.NormFloat64(), r.NormFloat64()
		}
		value := func() float64 {
			sum := 0.0
			for i, v := range byRows(&in, x, nil) {
				sum += weight[i] * v
			}
			return sum
		}
		operand := x
		if forward != compile.Normalize {
			operand = byRows(&in, x, nil)
		}
		got := byRows(&in2, weight, operand)
		for i := range x {
			x[i] += h
			up := value()
			x[i] -= 2 * h
			down := value()
			x[i] += h
			if want := (up - down) / (2 * h); math.Abs(got[i]-want) > 1e-7 {
				t.Errorf("%v: the slope at %d is %v, by differences %v", back, i, got[i], want)
			}
		}
	}
}

// Small whole numbers by hand: normalised rows, transposed products, and a view with a stride of 0.
func TestInterpretedByHand(t *testing.T) {
	same := func(what string, got, want []float64) {
		t.Helper()
		if distance(got, want) != 0 || len(got) != len(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	same("normalised", byRows(&compile.Instruction{Op: compile.Normalize, Rows: 2, K: 2}, []float64{1, 3, 8, 2}, nil), []float64{-1, 1, 1, -1})
	x, y := []float64{1, 2, 3, 4, 5, 6}, []float64{1, 0, 2, 0, 1, 3}
	same("x·y", matrices(x, y, 1, 2, 3, 2, false, false), []float64{1 + 4 + 3, 9, 4 + 10 + 6, 18})
	same("x·yᵀ", matrices(x, y, 1, 2, 3, 2, false, true), []float64{1 + 6, 2 + 9, 4 + 12, 5 + 18})
	same("xᵀ·y", matrices(x, y, 1, 2, 3, 2, true, false), []float64{1 + 6 + 5, 3 * 5, 2 + 8 + 6, 3 * 6})
	for j, want := range []int{2, 2, 3, 3, 2, 2, 3, 3} {
		if got := positionsOf(compile.View{Offset: 2, Shape: []int{2, 2, 2}, Strides: []int{0, 1, 0}})[j]; got != want {
			t.Errorf("element %d of a view is at %d, want %d", j, got, want)
		}
	}
}
