package compile_test

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"pgregory.net/rapid"
)

// drawView draws a view and the positions of its elements.
func drawView(t *rapid.T) (compile.View, []int32) {
	shape := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 4).Draw(t, "shape")
	v := compile.View{Offset: rapid.IntRange(0, 3).Draw(t, "offset"), Shape: shape}
	if rapid.Bool().Draw(t, "contiguous at first") {
		v = compile.ViewOf(shape)
		for d := range shape {
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				v.Strides[d] = 0
			case 1:
				e := rapid.IntRange(0, d).Draw(t, "axis")
				v.Shape[d], v.Shape[e] = v.Shape[e], v.Shape[d]
				v.Strides[d], v.Strides[e] = v.Strides[e], v.Strides[d]
			}
		}
	} else {
		for range shape {
			v.Strides = append(v.Strides, rapid.IntRange(0, 5).Draw(t, "stride"))
		}
	}
	positions := []int32{int32(v.Offset)}
	for d, n := range v.Shape {
		var longer []int32
		for _, at := range positions {
			for i := range n {
				longer = append(longer, at+int32(i*v.Strides[d]))
			}
		}
		positions = longer
	}
	return v, positions
}

func TestElementsOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, want := drawView(t)
		if got := v.Elements(); !slices.Equal(got, want) || v.Size() != len(want) {
			t.Fatalf("%v has %d elements at %v, want %v", v, v.Size(), got, want)
		}
		asItLies := true
		for j, at := range want {
			asItLies = asItLies && int(at) == j
		}
		if compile.Contiguous(v) != asItLies {
			t.Fatalf("%v is contiguous: %v", v, compile.Contiguous(v))
		}
		for _, n := range []int{int(slices.Max(want)), int(slices.Max(want)) + 1} {
			if got, want := compile.Within(v, n), n > int(slices.Max(want)); got != want {
				t.Fatalf("%v is within %d elements: %v", v, n, got)
			}
		}
	})
}

// A reshaped view has the same positions. If there is none, no strides give these positions.
func TestReshapedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, positions := drawView(t)
		var shape []int
		for left := len(positions); left > 1; {
			var divisors []int
			for n := 1; n <= left; n++ {
				if left%n == 0 {
					divisors = append(divisors, n)
				}
			}
			n := rapid.SampledFrom(divisors).Draw(t, "length")
			shape = append(shape, n)
			left /= n
		}
		got, ok := compile.Reshaped(v, shape)
		if ok && (!slices.Equal(got.Elements(), positions) || !slices.Equal(got.Shape, shape)) {
			t.Fatalf("%v as %v is %v", v, shape, got)
		}
		// The only possible strides lead from the first element to its neighbours.
		only := compile.View{Offset: v.Offset, Shape: shape, Strides: make([]int, len(shape))}
		step := 1
		for d, n := range slices.Backward(shape) {
			if n > 1 {
				only.Strides[d] = int(positions[step]) - v.Offset
			}
			step *= n
		}
		if slices.Equal(only.Elements(), positions) != ok {
			t.Fatalf("%v as %v: %v, though %v has %v of %v", v, shape, ok, only, only.Elements(), positions)
		}
	})
}
