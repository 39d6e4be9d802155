package pld

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// The bound by profiles is one of small mechanisms whose exact best is known, on the grid and off it.
func TestByProfilesBoundsSmallMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, k := drawDiscrete(t, "trial"), drawRepetitions(t)
		if repetitions.Once(k) {
			return
		}
		b := NewByProfiles(d.pair(rapid.Float64Range(0.01, 0.2).Draw(t, "step")), k)
		exact := d.selected(k)
		dominates(t, "best of K", b, exact)
		if onGrid, _, err := b.Pair(b.run.removal.Grid); err != nil {
			t.Fatal(err)
		} else {
			dominates(t, "best of K on the grid", onGrid, exact)
		}
	})
}

// logRatio is at least the ratio of the selection's factors at every place of every order, and some pair of u and v
// that its conditions allow attains it.
func TestLogRatioIsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawRepetitions(t)
		x := math.Exp(rapid.Float64Range(0, 2).Draw(t, "epsilon hat"))
		before, after := rapid.Float64Range(0, 0.7).Draw(t, "before"), rapid.Float64Range(0, 0.7).Draw(t, "after")
		got, largest := logRatio(k, math.Log(x), before, after), 0.0
		for i := range 2000 {
			u := float64(i) / 2000
			v := math.Min(1, math.Min(x*u+after, 1-(1-u-before)/x))
			largest = math.Max(largest, k.LogSlope(u)-k.LogSlope(math.Max(u, v)))
		}
		if math.IsInf(largest, 1) && math.IsInf(got, 1) {
			return
		}
		if got < largest-1e-9 || mean(k) < 20 && got > largest+0.1 {
			t.Fatalf("%#v, level %v, %v before and %v after: %v, found %v", k, x, before, after, got, largest)
		}
	})
}

// Of a mechanism of pure epsilon the best of a geometric number of runs has 3 epsilon (Liu and Talwar, 2019), and that
// of a truncated negative binomial one (2 + shape) epsilon (Papernot and Steinke, 2022). Both have no delta there.
func TestByProfilesOfPureEpsilon(t *testing.T) {
	const epsilon = 0.5
	p := math.Exp(epsilon) / (1 + math.Exp(epsilon))
	d := discrete{[]float64{p, 1 - p}, []float64{1 - p, p}}.pair(epsilon / 10)
	for _, shape := range []float64{-0.5, 0, 1, 3} {
		b := NewByProfiles(d, repetitions.NegativeBinomial{Shape: shape, Success: 1e-4})
		high, low := b.DeltaAt((2+shape)*epsilon*1.03), b.DeltaAt((2+shape)*epsilon*0.8)
		if high > 1e-7 || low < 0.01 {
			t.Errorf("shape %v: delta %v above the known epsilon, %v below it", shape, high, low)
		}
	}
}
