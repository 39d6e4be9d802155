package accountant

import "testing"

// Disjoint shards cost exactly as much as the costliest one alone, in every mode, even if their best orders differ.
func TestShardsCostAsTheCostliest(t *testing.T) {
	flat, steep := Event(Gaussian{NoiseMultiplier: 3}), DPSGD(0.001, 0.6, 50)
	for _, mode := range []Mode{Paper, Tight, Best} {
		for _, delta := range Every(2, []float64{1e-2, 1e-5, 1e-9}) {
			want := max(mustEpsilon(t, flat, delta, Options{Mode: mode}), mustEpsilon(t, steep, delta, Options{Mode: mode}))
			for _, e := range []Event{Parallel{Events: []Event{flat, steep}}, Parallel{Events: []Event{steep, Parallel{Events: []Event{flat, flat}}}}} {
				if got := mustEpsilon(t, e, delta, Options{Mode: mode}); got != want {
					t.Errorf("%s, delta %v: epsilon %v, want %v", mode, delta, got, want)
				}
			}
		}
	}
}
