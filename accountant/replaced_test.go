package accountant

import (
	"errors"
	"math"
	"testing"
)

// Two steps cost what the exact laws of two steps cost, by integration over both outputs.
func TestReplacedStepsAgainstIntegration(t *testing.T) {
	const h = 1e-2
	for _, c := range Every(2, []struct {
		rows int
		g, s float64
	}{{1, 0.02, 1}, {1, 0.5, 2}, {3, 0.1, 1.5}, {1, 0.003, 0.6}}) {
		ratio, reach := rowsRatio(c.rows, c.g, c.s), 10+float64(c.rows)/c.s
		var p, q []float64 // of one step
		for z := -reach; z < reach; z += h {
			base := h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			p, q = append(p, base*math.Exp(ratio(z))), append(q, base*math.Exp(ratio(-z)))
		}
		e := GroupOf{Event: DPSGD(c.g, c.s, 2), Size: c.rows}
		inner, _ := spread(e)
		bound, _, err := profileOf(inner, 1e-12, false, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0.01, 0.3, 1, 3} {
			x, want := math.Exp(epsilon), 0.0
			for i := range p {
				for j := range p {
					want += max(0, p[i]*p[j]-x*q[i]*q[j])
				}
			}
			if got := bound.DeltaAt(epsilon); got < want*(1-1e-5)-1e-15 || got > want*1.002+1e-13 {
				t.Errorf("%+v: delta(%v) = %.9g, the integral %.9g", c, epsilon, got, want)
			}
		}
	}
}

// dp_accounting 0.6.0 has runs under replacement too: PLDAccountant(NeighboringRelation.REPLACE_ONE) with its default
// discretization of 1e-4 gave these epsilons at delta 1e-5 and 1e-8, from bench/workloads/accountants.
func TestReplacedRunsAgainstDPAccounting(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		steps       int
		want        [2]float64
	}{
		{0.01, 1, 1000, [2]float64{2.8434458118173023, 3.8794062221374257}},
		{0.01, 2, 5000, [2]float64{2.9559562411706772, 3.9595975668178762}},
		{0.0213, 2, 1878, [2]float64{4.001685423173314, 5.301337073673576}},
		{0.5, 4, 100, [2]float64{13.078226612859362, 16.478145332688463}},
		{0.001, 0.6, 10000, [2]float64{2.7717570542006547, 4.828243560743466}},
		{1, 40, 100, [2]float64{1.9930921423047656, 2.707607314346656}},
		{0.05, 0.8, 1, [2]float64{1.9453295287686483, 3.7974769777362223}},
	} {
		for i, delta := range []float64{1e-5, 1e-8} {
			g, err := Epsilon(DPSGD(c.rate, c.noise, c.steps), delta, Options{Neighbours: ReplaceOne})
			if err != nil || math.Abs(g.Epsilon/c.want[i]-1) > 3e-4 {
				t.Errorf("%+v, delta %v: epsilon %v (%v)", c, delta, g.Epsilon, err)
			}
		}
	}
}

// A Gaussian on all data has twice the distance, and is exact in modes that have no losses of replacements too, but for
// the Rényi conversion.
func TestReplacedGaussian(t *testing.T) {
	near, err := Epsilon(Gaussian{NoiseMultiplier: 2}, 1e-5, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []Mode{Paper, Tight, Best} {
		far, err := Epsilon(Gaussian{NoiseMultiplier: 4}, 1e-5, Options{Mode: mode, Neighbours: ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		most := 1.0002
		if mode != Best {
			most = 1.2
		}
		if !(far.Epsilon >= near.Epsilon*(1-1e-4) && far.Epsilon < near.Epsilon*most) {
			t.Errorf("%s: replacing one at noise 4 costs %v, removing one at noise 2 costs %v", mode, far.Epsilon, near.Epsilon)
		}
	}
}

// A replacement costs more than a removal and no more than any bound for a removal and an addition; a sample that is
// zeroed out costs what a removal costs. All events have an answer, and it says for which neighbours.
func TestNeighbours(t *testing.T) {
	base := DPSGD(0.05, 1.5, 50)
	for _, c := range Every(3, []struct {
		name string
		e    Event
	}{
		{"run", base},
		{"rate 1", DPSGD(1, 20, 50)},
		{"baseline", Baseline(Poisson{Mean: 5}, base)},
		{"unit", GroupOf{Event: Variant1(0.2, Poisson{Mean: 5}, base), Size: 3}},
		{"fixed", Baseline(Fixed{Trials: 3}, base)},
		{"variant 1", Variant1(0.2, Poisson{Mean: 5}, base)},
		{"variant 2 of two", Variant2Of(0.2, Binomial{Trials: 9, Probability: 0.5}, OneOf{Events: []Event{base, DPSGD(0.01, 1, 9)}}, MaxOver{Events: []Event{base, DPSGD(0.01, 1, 9)}})},
		{"line", Variant2(0.2, Poisson{Mean: 5}, RDPLine{Slope: 0.02})},
		{"unit in several shards", GroupOf{Event: Parallel{Events: []Event{base, base}}, Size: 2}},
		{"shards", Parallel{Events: []Event{base, HeldOutScores(Poisson{Mean: 5}, 40)}}},
	}) {
		name, e := c.name, c.e
		for _, mode := range []Mode{Tight, Best} {
			of := func(n Neighbours) Guarantee {
				g, err := Epsilon(e, 1e-5, Options{Mode: mode, Neighbours: n})
				if err != nil {
					t.Fatalf("%s, %s: %v", name, n, err)
				}
				if want := n; grouped(e) {
					if want = AddRemoveUnit; n == ReplaceOne {
						want = ReplaceUnit
					} else if n == ZeroOut {
						want = ZeroOutUnit
					}
					if g.Neighbours != want {
						t.Errorf("%s: neighbours %q for %q", name, g.Neighbours, n)
					}
				} else if g.Neighbours != n {
					t.Errorf("%s: neighbours %q for %q", name, g.Neighbours, n)
				}
				return g
			}
			removed, replaced, zeroed := of(AddRemove), of(ReplaceOne), of(ZeroOut)
			if zeroed.Epsilon != removed.Epsilon {
				t.Errorf("%s, %s: %v for a sample that is zeroed out, %v for one that is removed", name, mode, zeroed.Epsilon, removed.Epsilon)
			}
			// A removal and an addition of half the epsilon each, at deltas that add up to less than the target.
			half, err := Delta(e, replaced.Epsilon/2*1.001, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			if twice := half.Delta * (1 + math.Exp(replaced.Epsilon/2)); !(replaced.Epsilon > removed.Epsilon && twice > 0.99e-5) {
				t.Errorf("%s, %s: %v for a replacement, %v for a removal; half of it twice has delta %v", name, mode, replaced.Epsilon, removed.Epsilon, twice)
			}
			delta, err := Delta(e, replaced.Epsilon, Options{Mode: mode, Neighbours: ReplaceOne})
			if err != nil || !(delta.Delta <= 1.001e-5 && delta.Delta > 0.9e-5) {
				t.Errorf("%s, %s: delta %v at the epsilon %v of delta 1e-5 (%v)", name, mode, delta.Delta, replaced.Epsilon, err)
			}
		}
	}
	o := Options{Neighbours: ReplaceOne}
	noise, err := CalibrateNoise(3, 1e-5, o, func(noise float64) Event { return Variant2(0.2, Poisson{Mean: 5}, DPSGD(0.05, noise, 50)) })
	if err != nil {
		t.Fatal(err)
	}
	for _, factor := range []float64{1, 0.999} {
		g, err := Epsilon(Variant2(0.2, Poisson{Mean: 5}, DPSGD(0.05, noise*factor, 50)), 1e-5, o)
		if err != nil || (g.Epsilon <= 3) != (factor == 1) {
			t.Errorf("noise %v calibrated to epsilon 3 for a replacement; times %v it costs %v (%v)", noise, factor, g.Epsilon, err)
		}
	}
	if _, err := Epsilon(base, 1e-5, Options{Neighbours: "replace"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown neighbours: %v", err)
	}
	if _, err := RDP(base, o); !errors.Is(err, ErrInvalid) {
		t.Errorf("a Rényi curve for replacements: %v", err)
	}
}
