package accountant

import (
	"testing"
)

// TestFarOut has events whose bounds once were several per cent too high, or that had no privacy-loss distribution:
// very many trials, and deltas far below the rounding of a sum.
func TestFarOut(t *testing.T) {
	many, err := Logarithmic(1e6)
	if err != nil {
		t.Fatal(err)
	}
	base := DPSGD(0.0213, 4, 1878)
	for _, c := range []struct {
		event Event
		delta float64
	}{
		{Baseline(many, base), 1e-5}, {Baseline(Poisson{Mean: 15}, base), 1e-60}, {base, 1e-100},
	} {
		best := mustEpsilon(t, c.event, c.delta, Options{})
		attained, err := Attained(c.event, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if !(best >= attained && best <= attained*1.005) {
			t.Errorf("%v, delta %v: epsilon %v, where %v is attained", c.event, c.delta, best, attained)
		}
	}
}

// Delta guesses the delta that bounds are to be sharp about. A Gaussian's delta has a closed form.
func TestDeltaFarOut(t *testing.T) {
	last := 1.0
	for _, epsilon := range []float64{0.1, 2, 5, 8, 12, 16, 20} {
		want := gaussianDelta(1, epsilon)
		g, err := Delta(Gaussian{1}, epsilon, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !(g.Delta >= want*(1-1e-9) && g.Delta <= want*1.01 && g.Delta < last) {
			t.Errorf("epsilon %v: delta %v, want %v", epsilon, g.Delta, want)
		}
		last = g.Delta
	}
}
