package pld

import (
	"math"
	"testing"
)

// byOrder bounds the divergence in either direction of mechanisms with a Rényi divergence of r at order a. It is a
// convex function of e^epsilon, whose last 1/a is the chord to 1.
func byOrder(a, r float64) func(epsilon float64) float64 {
	return func(epsilon float64) float64 {
		if epsilon <= r+math.Log1p(-1/a) {
			return -math.Expm1(epsilon - r)
		}
		return math.Exp((a-1)*(r+math.Log1p(-1/a)-epsilon)) / a
	}
}

// The pair follows its bounds closely where they are near 1 and begin to fall steeply, and isn't above them where they
// aren't convex in e^epsilon.
func TestBoundedFollowsItsBounds(t *testing.T) {
	smaller := func(f, g func(float64) float64) func(float64) float64 {
		return func(epsilon float64) float64 { return math.Min(f(epsilon), g(epsilon)) }
	}
	for name, c := range map[string]struct {
		bound      func(epsilon float64) float64
		step, last float64
		attained   bool // except at negative epsilons, where the other direction's bound counts
	}{
		"one order":      {byOrder(2, 20), 0.02, 40, true},
		"a long way off": {byOrder(3, 86), 0.02, 100, true},
		"a steep fall":   {byOrder(60, 30), 1e-3, 30.4, true},
		"close by":       {byOrder(2, 0.1), 0.004, 9, false},
		"two orders":     {smaller(byOrder(2, 20), byOrder(4, 25)), 0.02, 34, false},
		"a kink":         {smaller(byOrder(2, 1), byOrder(30, 9)), 2e-3, 10, false},
	} {
		d, err := Bounded(NewGrid(c.step, 1e-15), c.bound)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range 300 {
			epsilon := c.last * float64(i) / 300
			bound := c.bound(epsilon)
			if got := d.DeltaAt(epsilon); !(got <= bound*(1+2e-3)+1e-12) || c.attained && got < bound*(1-1e-8) {
				t.Errorf("%s, epsilon %v: %v, the bound is %v", name, epsilon, got, bound)
			}
		}
	}
}
