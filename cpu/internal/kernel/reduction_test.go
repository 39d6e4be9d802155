package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSumOrder pins the order of summation that Dot documents on a sum where every order rounds
// differently: 2²⁴ absorbs a 1 added to it, but not the 2 that two lanes make together.
func TestSumOrder(t *testing.T) {
	x := make([]float32, 200)
	x[0], x[64] = 1<<24, 1 // the same lane: lost
	x[1], x[33] = 1, 1     // 33 folds onto 1, so 2 reaches lane 0
	for _, tb := range tables() {
		if got := tb.sum(x); got != 1<<24+2 {
			t.Errorf("%s: sum is %v, want %v", tb.name, got, 1<<24+2)
		}
	}
}

func TestReductionsOfNothing(t *testing.T) {
	if got := Sum(nil); got != 0 || math.Signbit(float64(got)) {
		t.Errorf("Sum is %v, want 0", got)
	}
	if got := Dot(nil, nil); got != 0 {
		t.Errorf("Dot is %v, want 0", got)
	}
	if got := SumSquares(nil); got != 0 {
		t.Errorf("SumSquares is %v, want 0", got)
	}
}

// squaresError is the relative error that SumSquares documents.
const squaresError = 39 * 0x1p-24

// exactSquares returns Σ a[i]² without rounding: 700 bits reach from the square of the smallest float32, 2⁻²⁹⁸, to
// beyond the sum of a full slice of the largest squares.
func exactSquares(a []float32) float64 {
	var square big.Float
	total := new(big.Float).SetPrec(700)
	for _, x := range a {
		square.SetFloat64(float64(x) * float64(x)) // 48 bits: exact
		total.Add(total, &square)
	}
	sum, _ := total.Float64()
	return sum
}

func wantSquares(t rapid.TB, implementation string, a []float32) {
	t.Helper()
	want := exactSquares(a)
	if got := SumSquares(a); !(math.Abs(got-want) <= squaresError*want) {
		t.Fatalf("%s: sum of %d squares is %v, want %v within 39·2⁻²⁴", implementation, len(a), got, want)
	}
}

// TestSumSquares checks the documented error bound at every magnitude whose sum doesn't overflow: the elements'
// exponents lie between two drawn ones, from the smallest denormal number to 2⁵⁸.
func TestSumSquares(t *testing.T) {
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			exponent := rapid.IntRange(-149, 57)
			low, high := exponent.Draw(t, "exponent"), exponent.Draw(t, "exponent")
			low, high = min(low, high), max(low, high)
			n := rapid.OneOf(rapid.IntRange(0, 140), rapid.IntRange(2040, 2056), rapid.IntRange(4000, 5000)).Draw(t, "n")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(math.Ldexp(1+r.Float64(), low+r.IntN(high-low+1)))
				if r.IntN(2) == 0 {
					x[i] = -x[i]
				}
			}
			withTable(tb, func() { wantSquares(t, tb.name, x) })
		}))
	}
}

// TestSumSquaresUnderflow checks the same bound on sums whose squares underflow, in whole or in part.
func TestSumSquaresUnderflow(t *testing.T) {
	const lost = 2.6e-23 // the square rounds to zero
	for _, tb := range tables() {
		for _, most := range []float32{
			0, lost, math.SmallestNonzeroFloat32, 0x1p-127, // denormal
			0x1p-74, 1e-22, 1e-20, 1e-19, // squares that are denormal, or just normal
			3.1e-13, 3.2e-13, 1e-12, // sums on either side of 1e-25
			1,
		} {
			for _, rest := range []float32{0, math.SmallestNonzeroFloat32, 0x1p-127, lost, 3e-23, 1e-22} {
				x := make([]float32, 3*2048+5)
				for i := range x {
					x[i] = rest
				}
				x[len(x)/2] = most
				withTable(tb, func() { wantSquares(t, tb.name, x) })
			}
		}
	}
}

// TestSumSquaresAbsorption adds up, in every lane, 1 and then squares just below half its unit in the last place: all
// are lost on the 1. A block loses 31·2⁻²⁴ of its sum, the maximum that the bound allows a lane; the blocks after it
// lose nothing.
func TestSumSquaresAbsorption(t *testing.T) {
	x := slices.Repeat([]float32{0.999 * 0x1p-12}, 20*2048)
	for i := range lanes {
		x[i] = 1
	}
	for _, tb := range tables() {
		withTable(tb, func() {
			wantSquares(t, tb.name, x[:2048])
			wantSquares(t, tb.name, x)
		})
	}
}

func TestSumSquaresBeyondRange(t *testing.T) {
	small := make([]float32, 3*2048)
	for i := range small {
		small[i] = 1e-30
	}
	for _, at := range []int{0, 2048, len(small) - 1} {
		for _, x := range []float32{1.85e19, -1.85e19, math.MaxFloat32, float32(math.Inf(-1))} {
			a := slices.Clone(small)
			a[at] = x
			if got := SumSquares(a); !math.IsInf(got, 1) {
				t.Errorf("with %v at %d: %v, want +Inf", x, at, got)
			}
		}
		a := slices.Clone(small)
		a[at] = float32(math.NaN())
		if got := SumSquares(a); got == got {
			t.Errorf("with NaN at %d: %v", at, got)
		}
	}
	wantSquares(t, "one element", []float32{1.84e19})
	if got := SumSquares(slices.Repeat([]float32{1e18}, 2048)); !math.IsInf(got, 1) {
		t.Errorf("block beyond range: %v, want +Inf", got)
	}
}
