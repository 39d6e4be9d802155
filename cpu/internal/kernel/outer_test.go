package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// steps returns the number of steps of grid nearest to x·y, ties to even, by exact arithmetic.
func steps(x, y float32, grid float64) int32 {
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	q := exact(float64(x))
	q.Mul(q, exact(float64(y))).Quo(q, exact(grid))
	down := new(big.Int).Div(q.Num(), q.Denom())
	q.Sub(q, new(big.Rat).SetInt(down))
	if c := q.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && down.Bit(0) == 1 {
		down.Add(down, big.NewInt(1))
	}
	return int32(down.Int64())
}

// Every implementation adds up products that are rounded once, to the nearest multiple of the grid, for all sizes up to
// the largest allowed, and writes nothing beyond its arguments.
func TestAddOuter(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			size := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(14, 34), rapid.IntRange(46, 66))
			m, n, k := rapid.IntRange(1, 11).Draw(t, "m"), size.Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "k")
			log := rapid.IntRange(-100, 100).Draw(t, "log grid")
			grid := math.Ldexp(1, log)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			x := arenas[0].slice(k*m, rapid.Bool().Draw(t, "x at end"))
			y := arenas[1].slice(k*n, rapid.Bool().Draw(t, "y at end"))
			scale := math.Ldexp(1, max(r.IntN(80)-40, log-100)) // y doesn't overflow
			// Every other time values have few bits, so that products are often halfway.
			for i := range x {
				v := 2*r.Float64() - 1
				if r.IntN(2) == 0 {
					v = math.Round(v*8) / 8
				}
				x[i] = float32(v * scale)
			}
			for i := range y {
				v := math.Ldexp(2*r.Float64()-1, r.IntN(25))
				if r.IntN(2) == 0 {
					v = math.Ldexp(math.Round(v), r.IntN(3)-3)
				}
				y[i] = float32(min(max(v, -0x1p22), 0x1p22) * grid / scale)
			}
			sum := make([]int32, m*n+1)
			for i := range sum {
				sum[i] = r.Int32()
			}
			want := slices.Clone(sum)
			for l := range k {
				for i := range m {
					for j := range n {
						want[i*n+j] += steps(x[l*m+i], y[l*n+j], grid)
					}
				}
			}
			tb.addOuter(sum[:m*n], x, m, y, n, k, float32(grid))
			for i := range want {
				if sum[i] != want[i] {
					t.Fatalf("m %d, n %d, k %d: element %d is %d, want %d", m, n, k, i, sum[i], want[i])
				}
			}
		}))
	}
}

// The largest products, halves, and the smallest numbers are rounded correctly.
func TestAddOuterAtTheEnds(t *testing.T) {
	const tiny, large = math.SmallestNonzeroFloat32, 0x1p22
	for _, tb := range tables() {
		for _, c := range []struct {
			x, y float32
			grid float64
			want int32
		}{
			{large, 1, 1, 1 << 22}, {-large, 1, 1, -1 << 22}, {large - 0.5, 1, 1, 1 << 22}, {0.5 - large, 1, 1, -1 << 22}, {large - 1.5, 1, 1, 1<<22 - 2},
			{0.5, 1, 1, 0}, {1.5, 1, 1, 2}, {-0.5, 1, 1, 0}, {-1.5, 1, 1, -2}, {2.5, 1, 1, 2},
			// A product of more than 24 bits just beside a half: rounding it to 24 bits first would give the half.
			{1 + 0x1p-12, 0.5 * (1 + 0x1p-12), 1, 1}, {1 - 0x1p-12, 1.5 * (1 + 0x1p-12), 1, 1}, {1 - 0x1p-13, 2.5 * (1 + 0x1p-13), 1, 2},
			{tiny, tiny, 0x1p-100, 0}, {tiny, 1, 0x1p-100, 0}, {0x1p100, 0x1p-100, 1, 1}, {0x1p122, 1, 0x1p100, 1 << 22},
		} {
			sum := []int32{7}
			tb.addOuter(sum, []float32{c.x}, 1, []float32{c.y}, 1, 1, float32(c.grid))
			if got := sum[0] - 7; got != c.want || got != steps(c.x, c.y, c.grid) {
				t.Errorf("%s: %v times %v on %v is %d, want %d", tb.name, c.x, c.y, c.grid, got, c.want)
			}
		}
	}
}
