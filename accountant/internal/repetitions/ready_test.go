package repetitions

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A ready distribution has the same bits.
func TestReadyIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := math.Exp(rapid.Float64Range(-3, 12).Draw(t, "log mean"))
		success := math.Exp(rapid.Float64Range(-20, 0).Draw(t, "log success"))
		w := rapid.Float64Range(0, 1.01).Draw(t, "w")
		for _, k := range []Distribution{Poisson{mean}, TruncatedPoisson{mean}, NegativeBinomial{rapid.Float64Range(-0.99, 6).Draw(t, "shape"), success}, Binomial{rapid.IntRange(1, 1000).Draw(t, "trials"), success}} {
			r := Ready(k)
			if Steepens(k) != Steepens(r) {
				t.Fatalf("%#v steepens, or only when it is ready", k)
			}
			for _, of := range []func(Distribution) float64{
				func(k Distribution) float64 { return k.LogSlope(w) },
				func(k Distribution) float64 { return k.Growth(w) },
				func(k Distribution) float64 { return k.Span(w, w/3) },
				func(k Distribution) float64 { return k.Fall(w) },
				Distribution.None, Distribution.Curvature,
			} {
				if a, b := of(k), of(r); math.Float64bits(a) != math.Float64bits(b) {
					t.Fatalf("%#v at %v: %v, and %v when ready", k, w, a, b)
				}
			}
		}
	})
}
