package accountant

import (
	"testing"
)

// TestDeepCellsFall holds the bound on divergences to fall with epsilon, and to nothing far out, where K is so large that
// phi' differs by orders of magnitude between the ends of a cell.
func TestDeepCellsFall(t *testing.T) {
	for _, base := range []Event{DPSGD(0.1, 1, 100), DPSGD(0.03, 1, 3000)} {
		d, err := newProfiler(gridStep(base)).pair(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, mean := range []float64{200, 1000} {
			s := newSelection(d, Poisson{Mean: mean}, cellCount)
			for _, f := range []func(float64) float64{s.remove, s.add} {
				last := 1.0
				for epsilon := 0.0; epsilon < largestLoss; epsilon += 20 {
					delta := f(epsilon)
					if delta > last*(1+1e-6) {
						t.Errorf("%v, mean %v: delta grows from %v to %v at epsilon %v", base, mean, last, delta, epsilon)
					}
					last = delta
				}
				if last > 1e-12 {
					t.Errorf("%v, mean %v: delta is %v at the largest losses", base, mean, last)
				}
			}
		}
	}
}
