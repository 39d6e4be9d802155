package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The tests of this file check the claims of the numerical lemmas of the privacy-loss accountant, each against plain
// arithmetic that shares nothing with it. Where both sides are floating point, the plain one sums positive terms.

// TestCellIntegrals compares with Boole's rule on many panels.
func TestCellIntegrals(t *testing.T) {
	boole := func(a, b float64, f func(t float64) float64) float64 {
		const panels = 1000
		h := (b - a) / panels / 4
		total := 0.0
		for i := range 4 * panels {
			w := []float64{14, 32, 12, 32}[i%4]
			total += w * f(float64(i)*h)
		}
		return (total + 7*(f(b-a)-f(0))) * h * 2 / 45
	}
	worst := 0.0
	for _, noise := range []float64{0.02, 0.05, 0.3, 1, 7, 50, 1e4, 1e8} {
		for _, a := range []float64{-30, -13, -4, -1, -0.01, 0, 0.3, 2, 9, 20, 33} {
			for _, width := range []float64{1e-9, 1e-5, 0.003, 1.0 / 32, 0.2, 0.9} {
				width *= math.Min(1, 8*noise) // beyond, Boole's panels are too coarse
				b := a + width
				width = b - a
				up, down := cellIntegrals(a, a, b, b, noise, 0)
				phi := func(s float64) float64 { return math.Exp(-(a+s)*(a+s)/2) / math.Sqrt(2*math.Pi) }
				wantUp := boole(a, b, func(s float64) float64 { return phi(s) * math.Expm1(s/noise) })
				wantDown := boole(a, b, func(s float64) float64 { return -phi(s) * math.Expm1((s-width)/noise) })
				worst = math.Max(worst, math.Max(math.Abs(up/wantUp-1), math.Abs(down/wantDown-1)))
			}
		}
	}
	// The exponent -t²/2 alone rounds to 500·2^-53 at the far end.
	if worst > 2e-12 {
		t.Errorf("relative error %v", worst)
	}
	t.Logf("largest relative error %.1e", worst)
}

// TestTransformError composes by transform and by plain convolution. The result of power must be at least the plain
// masses, and exceed them by at most twice its bound on the error: a far too large bound would show here.
func TestTransformError(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	largest := 0.0
	for _, points := range []int{3, 20, 150} {
		for _, count := range []int{2, 3, 7, 40} {
			g := &lossGrid{Grid: by(0.02), low: -points / 2, p: make([]float64, points)}
			total := 0.0
			for i := range g.p {
				g.p[i] = math.Exp(6 * src.Float64())
				total += g.p[i]
			}
			for i := range g.p {
				g.p[i] /= total
			}
			plain := []float64{1}
			for range count {
				next := make([]float64, len(plain)+points-1)
				for i, v := range plain {
					for j, p := range g.p {
						next[i+j] += v * p
					}
				}
				plain = next
			}
			c, err := g.power(count, 1)
			if err != nil {
				t.Fatal(err)
			}
			var beyondP, beyondQ float64
			first := count * g.low
			for i, v := range plain {
				k := first + i
				q := v * math.Exp(-float64(k)*g.step)
				switch {
				case k > c.last:
					beyondP += v
				case k < c.first:
					beyondQ += q
				default:
					j := k - c.first
					if c.p[j] < v*(1-1e-13) || c.q[j] < q*(1-1e-13) {
						t.Errorf("%d points, %d times, position %d: (%v, %v) is below (%v, %v)", points, count, k, c.p[j], c.q[j], v, q)
					}
					if v > 1e-10 && q > 1e-10 {
						largest = math.Max(largest, c.p[j]/v-1)
					}
				}
			}
			if c.pAbove < beyondP || c.qBelow < beyondQ {
				t.Errorf("%d points, %d times: beyond the window (%v, %v), bounds (%v, %v)", points, count, beyondP, beyondQ, c.pAbove, c.qBelow)
			}
		}
	}
	if largest > 1e-4 {
		t.Errorf("a mass is high by a relative %v", largest)
	}
}

// TestFrequencies checks the bound that tilted assumes for the transform, against a plain sum with exact angles.
func TestFrequencies(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{4, 6, 8, 96, 128, 768, 2048, 3072} {
		f := newTransform(n)
		if f.n != n {
			t.Fatalf("size %d for %d", f.n, n)
		}
		total := 0.0
		for i := range f.sum {
			f.sum[i] = math.Exp(10 * src.Float64())
			total += f.sum[i]
		}
		f.fft.Coefficients(f.hat, f.sum)
		for _, k := range []int{0, 1, 2, n/2 - 1, n / 2, src.IntN(n/2 + 1), src.IntN(n/2 + 1)} {
			var re, im, reLow, imLow float64 // compensated sums
			for j, x := range f.sum {
				sin, cos := math.Sincos(2 * math.Pi * float64(j*k%n) / float64(n))
				re, reLow = twoSum(re, reLow, x*cos)
				im, imLow = twoSum(im, imLow, -x*sin)
			}
			off := math.Hypot(real(f.hat[k])-re-reLow, imag(f.hat[k])-im-imLow)
			if bound := (8.5*math.Log2(float64(n)) + 46) * 0x1p-53 * total; off > bound {
				t.Errorf("size %d, frequency %d: off by %v, bound %v", n, k, off, bound)
			}
		}
	}
}

// twoSum adds x to the unevaluated sum of high and low.
func twoSum(high, low, x float64) (float64, float64) {
	s := high + x
	v := s - high
	return s, low + (high - (s - v)) + (x - v)
}

// TestHullSide checks hullSide with values whose hulls don't cancel nicely: noisy, convex or not, down to 1e-300.
func TestHullSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "points")
		step := math.Exp(rapid.Float64Range(-25, 0).Draw(t, "log step"))
		low := rapid.IntRange(-n, n).Draw(t, "low")
		values := make([]float64, n)
		for i := range values {
			// A bound on a divergence: 1 - e^epsilon, the divergence here, plus noise.
			e := float64(low+i) * step
			values[i] = math.Max(0, -math.Expm1(e)) + math.Exp(rapid.Float64Range(-600, 0).Draw(t, "excess"))
			values[i] = math.Min(1, values[i])
		}
		s, err := hullSide(NewGrid(step, 1e-22), low, values)
		if err != nil {
			t.Fatal(err)
		}
		if s.total() < 1 {
			t.Fatalf("total %v", s.total())
		}
		// Every convex function below the values is below the hull: the chord of any two of them over any third point.
		last := math.Inf(1)
		for i := range values {
			e := float64(low+i) * step
			r := s.at(e)
			if r > values[i]*(1+1e-9)+2e-15*math.Abs(e)+1e-21 { // at's argument is rounded down, and tails are cut
				t.Fatalf("point %d of %v: %v is above the value", i, values, r)
			}
			if r > last*(1+1e-9) {
				t.Fatalf("point %d of %v: rises", i, values)
			}
			last = r
			if r < math.Max(0, -math.Expm1(e))*(1-1e-12) {
				t.Fatalf("point %d of %v: %v is below 1 - e^epsilon", i, values, r)
			}
			if lowest := lowestHull(step, values, i); r < lowest*(1-1e-12) {
				t.Fatalf("point %d of %v: %v is below the hull, %v", i, values, r, lowest)
			}
		}
	})
}

// lowestHull is the lower convex hull over e^epsilon at point i, with 1 at 0 and the horizontal ray beyond, by trying
// all chords.
func lowestHull(step float64, values []float64, i int) float64 {
	best := values[i]
	for a := -1; a < i; a++ {
		va := 1.0
		if a >= 0 {
			va = values[a]
		}
		best = math.Min(best, va) // the ray from a
		for b := i + 1; b < len(values); b++ {
			w := math.Expm1(float64(b-i) * step) // x(b) - 1
			if a < 0 {
				best = math.Min(best, (w*va+values[b])/(w+1))
				continue
			}
			v := -math.Expm1(float64(a-i) * step) // 1 - x(a)
			best = math.Min(best, (w*va+v*values[b])/(w+v))
		}
	}
	return best
}
