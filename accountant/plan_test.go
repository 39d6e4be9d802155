package accountant

import (
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/pld"
)

// TestOneOrderIsNeverBelowAttained checks the bounds of usual plans against a concrete order.
func TestOneOrderIsNeverBelowAttained(t *testing.T) {
	tnb, err := NegativeBinomial(0.5, 15)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		k     Repetitions
		base  Event
		q     float64
		delta float64
		gain  float64 // of the distance between pairs and the attained epsilon
	}{
		{Poisson{Mean: 15}, DPSGD(0.01, 2, 5000), 0.1, 1e-5, 0.5},
		{Poisson{Mean: 45}, DPSGD(0.01, 2, 5000), 0.1, 1e-5, 0},
		{Poisson{Mean: 15}, Gaussian{NoiseMultiplier: 1}, 0.3, 1e-8, 0},
		{tnb, DPSGD(0.02, 3, 1000), 0.1, 1e-6, 0},
		{TruncatedPoisson{Rate: 5}, Gaussian{NoiseMultiplier: 4}, 0.02, 1e-3, 0},
	} {
		for i, e := range []Event{Variant1(c.q, c.k, c.base), Variant2(c.q, c.k, c.base)} {
			p, _, err := newProfile(e, 1e-12)
			if err != nil {
				t.Fatal(err)
			}
			plan := p.(*pld.Plan)
			bound := profileBound{profile: plan}.epsilon(c.delta).Epsilon
			pairs := profileBound{profile: plan.Pairs}.epsilon(c.delta).Epsilon
			attained, err := Attained(e, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			if !(bound >= attained*(1-1e-4) && bound <= pairs*(1+1e-9)) {
				t.Errorf("variant %d, %#v: %v, not between %v and %v", i+1, c.k, bound, attained, pairs)
			}
			if c.gain > 0 && bound > pairs-c.gain*(pairs-attained) {
				t.Errorf("variant %d, %#v: %v gains too little between %v and %v", i+1, c.k, bound, attained, pairs)
			}
			t.Logf("variant %d, %#v, delta %v: %.5f, by pairs %.5f, attained %.5f", i+1, c.k, c.delta, bound, pairs, attained)
		}
	}
}
