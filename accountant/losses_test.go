package accountant

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// gaussianDelta is the exact hockey-stick divergence of N(mu, 1) from N(0, 1) (Balle and Wang, 2018).
func gaussianDelta(mu, epsilon float64) float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return upper(epsilon/mu-mu/2) - math.Exp(epsilon)*upper(epsilon/mu+mu/2)
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

// TestFinerGridsLowerTheBound checks that discretisation errs upwards: half the step never gives a larger bound.
func TestFinerGridsLowerTheBound(t *testing.T) {
	for _, e := range Every(2, []Event{
		DPSGD(0.0213, 1, 1878),
		Baseline(Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
		Variant1(0.1, Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
		Variant2(0.1, Poisson{Mean: 15}, DPSGD(0.01, 2, 5000)),
	}) {
		last := math.Inf(1)
		for step := 4 * gridStep(e); step > gridStep(e)/3; step /= 2 {
			r := newProfiler(pld.NewGrid(step, 1e-13))
			p, err := r.profile(e)
			if err != nil {
				t.Fatalf("%v, step %v: %v", e, step, err)
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

// TestSelectionIsCharged checks the limit of work of an event.
func TestSelectionIsCharged(t *testing.T) {
	e := Baseline(Poisson{15}, Gaussian{2})
	r := newProfiler(pld.NewGrid(0.01, 1e-20))
	if _, err := r.pair(Gaussian{2}); err != nil {
		t.Fatal(err)
	}
	before := r.work
	if _, err := r.pair(e); err != nil {
		t.Fatal(err)
	}
	if took := r.work - before; took < 5*pld.CellCount*pld.CellCount || took > 400*pld.CellCount*pld.CellCount {
		t.Errorf("a selection takes %v products", took)
	}
	r = newProfiler(pld.NewGrid(0.01, 1e-20))
	if _, err := r.pair(Gaussian{2}); err != nil {
		t.Fatal(err)
	}
	r.work = mostWork
	if d, err := r.pair(e); err != pld.ErrTooFine {
		t.Errorf("%v, %v beyond the limit, want errTooFine", d, err)
	}
}
