package accountant

import (
	"math"
	"testing"
)

// gaussianDelta is the exact hockey-stick divergence of N(mu, 1) from N(0, 1) (Balle and Wang, 2018).
func gaussianDelta(mu, epsilon float64) float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return upper(epsilon/mu-mu/2) - math.Exp(epsilon)*upper(epsilon/mu+mu/2)
}

// TestPowerOfGaussians composes steps by transform whose composition is one Gaussian, and follows both directions down
// to deltas that a plain transform could not see.
func TestPowerOfGaussians(t *testing.T) {
	for _, c := range []struct {
		mu    float64
		count int
	}{{0.3, 100}, {1, 1000}, {3, 50}, {6, 2000}} {
		noise := math.Sqrt(float64(c.count)) / c.mu
		const coarsen = 20
		d, err := composedGaussians(1, noise, 11, c.count, c.mu/100, coarsen)
		if err != nil {
			t.Fatal(err)
		}
		for epsilon := -0.5; epsilon < 60; epsilon += 0.1 {
			want := gaussianDelta(c.mu, epsilon)
			if want < 1e-16 {
				break
			}
			for _, got := range []float64{d.remove(epsilon), d.add(epsilon)} {
				if padded(got) < want*(1-1e-12) || got > want*1.01 {
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

func TestOneSampledStep(t *testing.T) {
	for _, c := range [][2]float64{{0.01, 1}, {0.0213, 0.5}, {0.3, 2}, {0.9, 0.7}, {0.5, 10}} {
		p, _, err := newProfile(DPSGD(c[0], c[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		d := p.(*pair)
		for epsilon := -1.0; epsilon < 20; epsilon += 0.0371 {
			want := sampledDelta(c[0], c[1], epsilon)
			// The other direction, through the identity between the two, which cancels.
			other := -math.Expm1(epsilon) + math.Exp(epsilon)*sampledDelta(c[0], c[1], -epsilon)
			if padded(d.remove(epsilon)) < want*(1-1e-9) || padded(d.add(epsilon)) < other*(1-1e-9)-1e-15*math.Exp(epsilon) {
				t.Errorf("%v, epsilon %v: (%v, %v) is below the exact (%v, %v)", c, epsilon, d.remove(epsilon), d.add(epsilon), want, other)
			}
			if want > 1e-15 && d.remove(epsilon) > want*1.01 {
				t.Errorf("%v, epsilon %v: %v, want %v and at most 1 %% more", c, epsilon, d.remove(epsilon), want)
			}
		}
	}
}

// TestTwoSampledSteps integrates the second step's exact divergence over the first step's outcome.
func TestTwoSampledSteps(t *testing.T) {
	for _, c := range [][2]float64{{0.02, 0.8}, {0.3, 2}} {
		g, s := c[0], c[1]
		p, _, err := newProfile(DPSGD(g, s, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0.01, 0.1, 0.3, 1, 2, 4} {
			const nodes = 50000
			want := 0.0
			for i := range nodes {
				x := (float64(i)+0.5)/nodes*(1+24*s) - 12*s
				q := math.Exp(-x*x/2/s/s) / s / math.Sqrt(2*math.Pi)
				l := sampledLoss(g, (x-0.5)/s/s)
				want += q * math.Exp(l) * sampledDelta(g, s, epsilon-l) * (1 + 24*s) / nodes
			}
			got := padded(p.(*pair).remove(epsilon))
			if want > 1e-14 && (got < want*(1-1e-8) || got > want*1.01) {
				t.Errorf("rate %v, noise %v, epsilon %v: delta %v, want %v and at most 1 %% more", g, s, epsilon, got, want)
			}
		}
	}
}

// TestAgainstDPAccounting compares with Google's dp_accounting (commit b5b0286e313b64a692abfc8c528d54ef47d960a0,
// PLDAccountant with value_discretization_interval 1e-4), an upper bound too. It was run as
//
//	a.compose(SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise)), steps)); a.get_epsilon(delta)
func TestAgainstDPAccounting(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		steps       int
		delta, want float64
	}{
		{0.0213, 1.0, 1878, 1e-05, 5.830800304629171},
		{0.0213, 2.0, 1878, 1e-05, 2.003880046700314},
		{0.0213, 4.0, 1878, 1e-05, 0.8725170788528047},
		{0.01, 2.0, 5000, 1e-05, 1.4774230403526483},
		{0.0256, 1.5, 1563, 1e-06, 3.725220091066272},
		{0.001, 0.7, 10000, 1e-06, 1.6369723185985232},
		{0.2, 3.0, 100, 1e-05, 2.9769579619761664},
		{1.0, 5.0, 10, 1e-05, 2.5943834404595902},
		{0.0213, 1.0, 1, 1e-05, 0.4689182758557589},
		{0.0213, 2.0, 1878, 1e-09, 2.963004785736591},
		{0.5, 0.8, 3, 1e-05, 8.104550083297786},
	} {
		g, err := Epsilon(DPSGD(c.rate, c.noise, c.steps), c.delta, Options{Mode: Best})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(g.Epsilon/c.want-1) > 1e-3 {
			t.Errorf("rate %v, noise %v, %d steps, delta %v: epsilon %v, want %v", c.rate, c.noise, c.steps, c.delta, g.Epsilon, c.want)
		}
	}
	// Three runs with different rates and noise, composed one after another.
	three := Composed{Events: []Event{DPSGD(0.0213, 2, 470), DPSGD(0.0427, 3, 937), DPSGD(0.01, 4, 5000)}}
	g, err := Epsilon(three, 1e-5, Options{Mode: Best})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.Epsilon/2.2154072946604333-1) > 1e-3 {
		t.Errorf("composed: epsilon %v, want 2.2154", g.Epsilon)
	}
}

// TestFinerGridsLowerTheBound holds discretisation to its direction: a grid with half the step never gives more.
func TestFinerGridsLowerTheBound(t *testing.T) {
	for _, e := range []Event{
		DPSGD(0.0213, 1, 1878),
		Baseline(Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
		Variant1(0.1, Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
		Variant2(0.1, Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
	} {
		last := math.Inf(1)
		for step := 4 * gridStep(e); step > gridStep(e)/3; step /= 2 {
			r := newProfiler(step)
			p, err := r.profile(e)
			if err != nil {
				t.Fatal(err)
			}
			epsilon := profileBound{profile: p}.epsilon(1e-5).Epsilon
			// A selection moves losses to cells of its own, which differ a little.
			if epsilon > last*(1+1e-4) {
				t.Errorf("%v, step %v: epsilon %v rises from %v", e, step, epsilon, last)
			}
			last = epsilon
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
