package pld

import (
	"math"
	"testing"
)

// gaussianDelta is the exact hockey-stick divergence of N(mu, 1) from N(0, 1) (Balle and Wang, 2018).
func gaussianDelta(mu, epsilon float64) float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return upper(epsilon/mu-mu/2) - math.Exp(epsilon)*upper(epsilon/mu+mu/2)
}

// TestPowerOfGaussians composes steps by transform whose composition is one Gaussian. It follows both directions down
// to deltas that a plain transform can't resolve.
func TestPowerOfGaussians(t *testing.T) {
	for _, c := range []struct {
		mu    float64
		count int
	}{{0.3, 100}, {1, 1000}, {3, 50}, {6, 2000}} {
		noise := math.Sqrt(float64(c.count)) / c.mu
		const coarsen = 20
		d, err := composedGrid(newRowsLoss(1, noise, 1, 0).grid, c.count, NewGrid(c.mu/100, 1e-22), coarsen)
		if err != nil {
			t.Fatal(err)
		}
		for epsilon := -0.5; epsilon < 60; epsilon += 0.1 {
			want := gaussianDelta(c.mu, epsilon)
			if want < 1e-16 {
				break
			}
			for _, got := range []float64{d.Remove(epsilon), d.Add(epsilon)} {
				if got*(1+1e-9) < want*(1-1e-12) || got > want*1.01 {
					t.Errorf("mu %v, %d steps, epsilon %.1f: delta %v, want %v and at most 1 %% more", c.mu, c.count, epsilon, got, want)
				}
			}
		}
	}
}

// sampledDelta is the exact divergence of P = (1-g) N(0,s^2) + g N(1,s^2) from Q = N(0,s^2), at any real epsilon.
func sampledDelta(g, s, epsilon float64) float64 {
	if epsilon <= math.Log1p(-g) {
		return -math.Expm1(epsilon)
	}
	return g * gaussianDelta(1/s, unsampledLoss(g, epsilon))
}

// onItsGrid composes steps on a grid chosen by their standard deviation.
func onItsGrid(t *testing.T, rate, noise float64, count int) *Pair {
	t.Helper()
	step := math.Sqrt(float64(count)*RowsVariance(rate, noise, 1)) / 100
	d, _, err := Rows(NewGrid(step, 1e-22), rate, noise, 1, count, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOneSampledStep(t *testing.T) {
	for _, c := range [][2]float64{{0.01, 1}, {0.0213, 0.5}, {0.3, 2}, {0.9, 0.7}, {0.5, 10}} {
		d := onItsGrid(t, c[0], c[1], 1)
		for epsilon := -1.0; epsilon < 20; epsilon += 0.0371 {
			want := sampledDelta(c[0], c[1], epsilon)
			// The other direction, through the identity between the two, which cancels.
			other := -math.Expm1(epsilon) + math.Exp(epsilon)*sampledDelta(c[0], c[1], -epsilon)
			if d.Remove(epsilon)*(1+1e-9) < want*(1-1e-9) || d.Add(epsilon)*(1+1e-9) < other*(1-1e-9)-1e-15*math.Exp(epsilon) {
				t.Errorf("%v, epsilon %v: (%v, %v) is below the exact (%v, %v)", c, epsilon, d.Remove(epsilon), d.Add(epsilon), want, other)
			}
			if want > 1e-15 && d.Remove(epsilon) > want*1.01 {
				t.Errorf("%v, epsilon %v: %v, want %v and at most 1 %% more", c, epsilon, d.Remove(epsilon), want)
			}
		}
	}
}

// Large losses of rarely sampled mechanisms, by mpmath with 60 digits at the float64 arguments.
func TestSampledLossAtTheEnds(t *testing.T) {
	for _, c := range []struct{ rate, x, want float64 }{
		{1.445439770745916e-190, 337.25, 4.224876534372286874075e-44},
		{1e-200, 400, 5.221469689764143857126e-27},
		{1e-130, 301, 1.837379912485484417174},
		{1e-150, 700, 354.6122360508931474036},
		{0.3, 400, 398.7960271956740639704},
		{1e-135, 310, 0.3561683355103287845685},
	} {
		if got := sampledLoss(c.rate, c.x); math.Abs(got-c.want) > sampledError(c.rate, c.x)+0x1p-51*c.want {
			t.Errorf("rate %v, loss %v: %v, want %v", c.rate, c.x, got, c.want)
		}
	}
}
