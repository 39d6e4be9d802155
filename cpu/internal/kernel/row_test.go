package kernel

import "testing"

func TestRows(t *testing.T) {
	a := []float32{1, 2, 3, 4, 5, 6}

	scaled := make([]float32, 6)
	ScaleRows(scaled, a, 2, 3, []float32{2, -1})
	wantSame(t, "ScaleRows", scaled, []float32{2, 4, 6, -4, -5, -6})

	turned := make([]float32, 6)
	Transpose(turned, a, 2, 3)
	wantSame(t, "Transpose", turned, []float32{1, 4, 2, 5, 3, 6})
}

// TestLengths: every exported function names the argument that is too short, before it reads or writes any argument.
func TestLengths(t *testing.T) {
	x, y := make([]float32, 4), make([]float32, 3)
	for want, call := range map[string]func(){
		"kernel: Add: len(b) is 3, want 4":               func() { Add(x, x, y) },
		"kernel: Exp: len(a) is 3, want 4":               func() { Exp(x, y) },
		"kernel: Dot: len(b) is 3, want 4":               func() { Dot(x, y) },
		"kernel: ScaleRows: len(s) is 3, want 2":         func() { ScaleRows(x, x, 2, 2, y) },
		"kernel: Softmax: len(a) is 3, want 4":           func() { Softmax(x, y, 2, 2) },
		"kernel: AddOuter: len(x) is 3, want 4":          func() { AddOuter(make([]int32, 1), y, 1, x, 1, 2, 2, 1) },
		"kernel: AddOuter: len(sum) is 1, want 4":        func() { AddOuter(make([]int32, 1), x, 4, x, 1, 1, 0, 1) },
		"kernel: Im2col: len(dst) is 4, want 9":          func() { Im2col(x, y, 1, 3, 1, 3, 1, 1, 0, 1, 1, 1, 1) },
		"kernel: MaxPoolBackward: len(arg) is 1, want 3": func() { MaxPoolBackward(x, y, make([]int32, 1)) },
		"kernel: MaxPool: window 3 (padding 0, stride 1, dilation 1) doesn't fit size 2": func() {
			MaxPool(x, nil, x, 1, 2, 2, 3, 1, 0, 0, 1, 1)
		},
		"kernel: AddOuter: grid 3 is not a power of two from 2⁻¹⁰⁰ to 2¹⁰⁰": func() { AddOuter(make([]int32, 1), nil, 1, nil, 1, 0, 0, 3) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panicked with %v, want %v", got, want)
				}
			}()
			call()
		}()
	}
}
