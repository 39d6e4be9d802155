package kernel

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"
)

// every is the distance between the float32 bit patterns at which accuracy is measured. The documentation's figures
// come from go test -run TranscendentalAccuracy -every 1, which takes three minutes.
var every = flag.Uint64("every", 1021, "measure accuracy at every `n`th float32")

var transcendentals = []struct {
	name   string
	kernel func(*table) func(dst, a []float32)
	f      func(float64) float64
	ulps   float64 // as documented
}{
	{"exp", func(t *table) func(dst, a []float32) { return t.exp }, math.Exp, 1.1},
	{"tanh", func(t *table) func(dst, a []float32) { return t.tanh }, math.Tanh, 2.5},
	{"sigmoid", func(t *table) func(dst, a []float32) { return t.sigmoid }, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 2.5},
	{"log", func(t *table) func(dst, a []float32) { return t.log }, math.Log, 0.9},
}

// TestTranscendentalAccuracy measures the error of the fastest form against float64, and checks the other fast forms
// against its bits.
func TestTranscendentalAccuracy(t *testing.T) {
	all := fast(t)
	for _, f := range transcendentals {
		t.Run(f.name, func(t *testing.T) {
			var x, y, z [4096]float32
			var worst float64
			var where float32
			for bits := uint64(0); bits < 1<<32; {
				n := 0
				for ; n < len(x) && bits < 1<<32; n++ {
					x[n] = math.Float32frombits(uint32(bits))
					bits += *every
				}
				f.kernel(all[len(all)-1])(y[:n], x[:n])
				for _, other := range all[:len(all)-1] {
					f.kernel(other)(z[:n], x[:n])
					wantSame(t, other.name, z[:n], y[:n])
				}
				for i := range n {
					if e := ulps(y[i], f.f(float64(x[i]))); !(e <= worst) {
						worst, where = e, x[i]
					}
				}
			}
			if !(worst <= f.ulps) {
				t.Errorf("%s(%v) is %v units in the last place off, want at most %v", f.name, where, worst, f.ulps)
			}
			t.Logf("worst at %v: %.3f units in the last place", where, worst)
		})
	}
}

// ulps returns the distance between got and want in units of the last place of want as a float32. NaN, zero and
// overflow must be exact.
func ulps(got float32, want float64) float64 {
	rounded := float32(want)
	if sameBits(got, rounded) {
		return 0
	}
	if got != got || rounded != rounded || want == 0 || math.IsInf(float64(got), 0) || math.IsInf(float64(rounded), 0) {
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / unit(rounded)
}

// unit returns the unit in the last place of x.
func unit(x float32) float64 {
	const leastExponent = -125 // of a normal number, as math.Frexp counts
	if x == 0 {
		return math.Ldexp(1, leastExponent-24)
	}
	_, exponent := math.Frexp(math.Abs(float64(x)))
	return math.Ldexp(1, max(exponent, leastExponent)-24)
}

// TestTranscendentalPlace: an element's result depends neither on its neighbours nor on its index.
func TestTranscendentalPlace(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range fast(t) {
		for _, f := range transcendentals {
			check := func(seed uint64, length uint8, atEnd bool) bool {
				n := int(length)
				x, y, one := arenas[0].slice(n, atEnd), arenas[1].slice(n, atEnd), arenas[2].slice(1, true)
				fill(x, rand.New(rand.NewPCG(seed, 0)), corners)
				f.kernel(tb)(y, x)
				for i := range x {
					if f.kernel(tb)(one, x[i:i+1]); !sameBits(one[0], y[i]) {
						return false
					}
				}
				f.kernel(tb)(x, x)
				for i := range x {
					if !sameBits(x[i], y[i]) {
						return false
					}
				}
				return true
			}
			if err := quick.Check(check, nil); err != nil {
				t.Errorf("%s/%s: %v", f.name, tb.name, err)
			}
		}
	}
}
