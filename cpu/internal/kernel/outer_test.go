package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// exactSteps returns x·y / grid by exact arithmetic: the whole number below, and the rest.
func exactSteps(x, y float32, grid float64) (*big.Int, *big.Rat) {
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	q := exact(float64(x))
	q.Mul(q, exact(float64(y))).Quo(q, exact(grid))
	down := new(big.Int).Div(q.Num(), q.Denom())
	return down, q.Sub(q, new(big.Rat).SetInt(down))
}

// steps returns the number of steps of grid nearest to x·y, ties to even.
func steps(x, y float32, grid float64) int32 {
	down, rest := exactSteps(x, y, grid)
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && down.Bit(0) == 1 {
		down.Add(down, big.NewInt(1))
	}
	return int32(down.Int64())
}

// stepsBelow returns the number of whole steps of grid below x·y, stepsAbove that above it.
func stepsBelow(x, y float32, grid float64) int32 {
	down, _ := exactSteps(x, y, grid)
	return int32(down.Int64())
}

func stepsAbove(x, y float32, grid float64) int32 { return -stepsBelow(-x, y, grid) }

// Every implementation adds up products that are rounded down or up once, for all sizes up to the largest allowed, of
// any number of pairs, and writes nothing beyond its arguments.
func TestAddOuter(t *testing.T) {
	arenas := newArenas(t)
	defer func(tb *table) { active = tb }(active)
	for _, tb := range tables() {
		active = tb
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			size := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(14, 34), rapid.IntRange(46, 66))
			m, n, k := rapid.IntRange(1, 19).Draw(t, "m"), size.Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "k")
			log := rapid.IntRange(-100, 100).Draw(t, "log grid")
			grid := math.Ldexp(1, log)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			x := arenas[0].slice(k*m, rapid.Bool().Draw(t, "x at end"))
			y := arenas[1].slice(k*n, rapid.Bool().Draw(t, "y at end"))
			scale := math.Ldexp(1, max(r.IntN(80)-40, log-100)) // y doesn't overflow
			// Small ones are added together.
			most := rapid.SampledFrom([]int{25, 25, 20, 10}).Draw(t, "log of the largest")
			// Every other time values have few bits, so that products are often whole, or just beside.
			for i := range x {
				v := 2*r.Float64() - 1
				if r.IntN(2) == 0 {
					v = math.Round(v*8) / 8
				}
				x[i] = float32(v * scale)
			}
			for i := range y {
				v := math.Ldexp(2*r.Float64()-1, r.IntN(most))
				if r.IntN(2) == 0 {
					v = math.Ldexp(math.Round(v), r.IntN(3)-3)
				}
				y[i] = float32(min(max(v, -0x1p22), 0x1p22) * grid / scale)
			}
			sum := make([]int32, m*n+1)
			for i := range sum {
				sum[i] = r.Int32()
			}
			want, down := slices.Clone(sum), r.IntN(k+1)
			for l := range k {
				for i := range m {
					for j := range n {
						if l < down {
							want[i*n+j] += stepsBelow(x[l*m+i], y[l*n+j], grid)
						} else {
							want[i*n+j] += stepsAbove(x[l*m+i], y[l*n+j], grid)
						}
					}
				}
			}
			AddOuter(sum[:m*n], x, m, y, n, down, k-down, grid)
			for i := range want {
				if sum[i] != want[i] {
					t.Fatalf("m %d, n %d, %d of %d down: element %d is %d, want %d", m, n, down, k, i, sum[i], want[i])
				}
			}
		}))
	}
}

// Sums so large that x and y are copied, of more pairs than are added together, or of many short rows, are what other
// sizes give.
func TestAddOuterOfWideSums(t *testing.T) {
	defer func(tb *table) { active = tb }(active)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{1000, 263, 5}, {17, 15500, 130}, {16, 16400, 3}, {1000, 5, 3}} {
		m, n, k := s[0], s[1], s[2]
		x, y := make([]float32, k*m), make([]float32, k*n)
		fill(x, r, normal)
		fill(y, r, normal)
		want := make([]int32, m*n)
		addOuterPlain(want, x, m, y, n, k/2, k-k/2, 0x1p-14)
		for _, tb := range tables() {
			active = tb
			sum := make([]int32, m*n)
			AddOuter(sum, x, m, y, n, k/2, k-k/2, 0x1p-14)
			if !slices.Equal(sum, want) {
				t.Errorf("%s: sums of %v differ", tb.name, s)
			}
		}
	}
}

// A worker's control register is as it was before: other code rounds to nearest.
func TestAddOuterRestoresRounding(t *testing.T) {
	for _, tb := range tables() {
		for down := range 2 {
			sum, one, tiny := make([]int32, 100), []float32{1}, float32(0x1p-30)
			tb.addOuter(sum, one, 1, make([]float32, 100), 100, down, 1-down, 1)
			if less, more := one[0]-tiny, one[0]+tiny; less != 1 || more != 1 {
				t.Errorf("%s: 1 ∓ 2⁻³⁰ is %v and %v", tb.name, less, more)
			}
		}
	}
}

// The largest products, whole ones, and the smallest numbers are rounded down.
func TestAddOuterAtTheEnds(t *testing.T) {
	const tiny, large = math.SmallestNonzeroFloat32, 0x1p22
	for _, tb := range tables() {
		for _, c := range []struct {
			x, y float32
			grid float64
			want int32
		}{
			{large, 1, 1, 1 << 22}, {-large, 1, 1, -1 << 22}, {large - 0.5, 1, 1, 1<<22 - 1}, {0.5 - large, 1, 1, -1 << 22},
			{0.5, 1, 1, 0}, {1.5, 1, 1, 1}, {-0.5, 1, 1, -1}, {-1.5, 1, 1, -2}, {2, 1, 1, 2}, {-2, 1, 1, -2}, {0, -1, 1, 0},
			// A product of more than 24 bits just below a whole number: rounding it to 24 bits first would give that.
			{1 + 0x1p-12, 1 - 0x1p-12, 1, 0}, {1 + 0x1p-12, -1 - 0x1p-12, 1, -2}, {3 * (1 - 0x1p-13), 1 + 0x1p-13, 1, 2},
			{tiny, tiny, 0x1p-100, 0}, {tiny, -tiny, 0x1p-100, -1}, {0x1p100, 0x1p-100, 1, 1}, {0x1p122, 1, 0x1p100, 1 << 22},
		} {
			sum := []int32{7, 7}
			tb.addOuter(sum[:1], []float32{c.x}, 1, []float32{c.y}, 1, 1, 0, float32(c.grid))
			tb.addOuter(sum[1:], []float32{-c.x}, 1, []float32{c.y}, 1, 0, 1, float32(c.grid))
			if got := sum[0] - 7; got != c.want || got != stepsBelow(c.x, c.y, c.grid) || sum[1]-7 != -got {
				t.Errorf("%s: %v times %v on %v is %d, and minus that up %d, want %d", tb.name, c.x, c.y, c.grid, got, sum[1]-7, c.want)
			}
		}
	}
}

// Many products that round down by nearly a step each leave the range of exact steps too, after one large product.
func TestAddOuterOfManySmallProducts(t *testing.T) {
	const k = 100
	x, y := make([]float32, k), make([]float32, k)
	for l := range k {
		x[l], y[l] = 1, -0x1p-20
	}
	y[0] = 50 - 0x1p22
	defer func(tb *table) { active = tb }(active)
	for _, tb := range tables() {
		active = tb
		sum := []int32{0}
		AddOuter(sum, x, 1, y, 1, k, 0, 1)
		if want := int32(50 - 1<<22 - (k - 1)); sum[0] != want {
			t.Errorf("%s: %d, want %d", tb.name, sum[0], want)
		}
	}
}
