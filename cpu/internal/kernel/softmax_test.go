package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 0))
	for _, cols := range []int{1, 2, 10, 17, 300} {
		const rows = 5
		a := make([]float32, rows*cols)
		for i := range a {
			a[i] = float32(40 * r.NormFloat64()) // exp would overflow without the maximum
		}
		soft, logSoft := make([]float32, len(a)), make([]float32, len(a))
		Softmax(soft, a, rows, cols)
		LogSoftmax(logSoft, a, rows, cols)
		for row := range rows {
			var total float64
			largest := math.Inf(-1)
			for _, x := range a[row*cols : (row+1)*cols] {
				largest = max(largest, float64(x))
			}
			for _, x := range a[row*cols : (row+1)*cols] {
				total += math.Exp(float64(x) - largest)
			}
			for i := row * cols; i < (row+1)*cols; i++ {
				// The exponent is off by its own rounding, at most 2⁻²⁴ of its size; the rest adds
				// a few units in the last place.
				exponent := float64(a[i]) - largest
				want := math.Exp(exponent) / total
				if got := float64(soft[i]); math.Abs(got-want) > want*(math.Abs(exponent)+8)*0x1p-23+0x1p-148 {
					t.Errorf("softmax of %v is %v, want %v", a[i], got, want)
				}
				want = exponent - math.Log(total)
				if got := float64(logSoft[i]); math.Abs(got-want) > (math.Abs(exponent)+math.Abs(want)+8)*0x1p-23 {
					t.Errorf("log softmax of %v is %v, want %v", a[i], got, want)
				}
			}
		}
		inPlace := append([]float32(nil), a...)
		Softmax(inPlace, inPlace, rows, cols)
		wantSame(t, "softmax in place", inPlace, soft)
		copy(inPlace, a)
		LogSoftmax(inPlace, inPlace, rows, cols)
		wantSame(t, "log softmax in place", inPlace, logSoft)
	}
}

func TestSoftmaxCorners(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	a := []float32{0, -inf, nan, 0, inf, 0, -inf, -inf, math.MaxFloat32, -math.MaxFloat32}
	got := make([]float32, len(a))
	Softmax(got, a, 5, 2)
	wantSame(t, "softmax", got, []float32{1, 0, nan, nan, nan, nan, nan, nan, 1, 0})
	LogSoftmax(got, a, 5, 2)
	wantSame(t, "log softmax", got, []float32{0, -inf, nan, nan, nan, nan, nan, nan, 0, -inf})
}
