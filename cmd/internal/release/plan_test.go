package release

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/tuner"
)

// Noise is called the smallest only where the guarantee comes close to what was asked for, of one kind of runs and of
// several.
func TestSmallestNoise(t *testing.T) {
	epsilon := 8.0
	several := &Tuning{Space: Space{Runs: []tuner.Run{{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2}, {SamplingRate: 0.2, Steps: 10, NoiseMultiplier: 3}}}}
	one := &Tuning{Space: Space{Runs: several.Space.Runs[:1]}}
	for _, c := range []struct {
		met  float64
		want [2]string
	}{
		{8, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.993, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.99, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
		{3, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
	} {
		p := Plan{Privacy: Privacy{Epsilon: c.met, NoiseMultiplier: 2, Tuning: one}, Asked: Asked{Epsilon: &epsilon}}
		if got := p.noise()[0][1]; !strings.HasSuffix(got, c.want[0]) {
			t.Errorf("epsilon %v, one kind of runs: %q, want %q", c.met, got, c.want[0])
		}
		p.NoiseMultiplier, p.Tuning = 0, several
		if got := p.noise(); len(got) != 3 || !strings.HasSuffix(got[0][1], c.want[1]) {
			t.Errorf("epsilon %v, two kinds of runs: %q, want %q", c.met, got, c.want[1])
		}
	}
}

// No probability is above 1, however many of them are added.
func TestAddsUp(t *testing.T) {
	const want = "whatever else is made from the same data adds to this; two runs like this one: epsilon 6 at delta 1"
	if got := (Privacy{Epsilon: 3, Delta: 0.75}).AddsUp(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (Privacy{Epsilon: 3, Delta: 0.75, Insecure: true}).AddsUp(); strings.ContainsAny(got, "0123456789") {
		t.Errorf("a void guarantee: %s", got)
	}
}

// A noise multiplier that is read off still meets the budget. With a known seed a single run has no guarantee.
func TestSingleRun(t *testing.T) {
	p := Plan{Privacy: Privacy{Epsilon: 3, Delta: 1e-5, NoiseMultiplier: 2.00000000001, Insecure: true}}
	if got := p.noise()[0][1]; !strings.HasPrefix(got, "multiplier 2.00000001") {
		t.Errorf("noise: %q", got)
	}
	if got := p.Budget(); !strings.HasSuffix(got, "; VOID, the seed is insecure") {
		t.Errorf("budget: %q", got)
	}
}

// The bytes of released files depend on the JSON names in package tuner's types.
func TestSpaceAsJSON(t *testing.T) {
	s := exampleGrid()
	s.Parameters = append(s.Parameters, tuner.Parameter{Name: "clipping norm", Values: tuner.Between(0.5, 2)})
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"search":"grid","candidates":3,"parameters":[{"name":"learning rate","values":[0.01,0.1,1]},{"name":"clipping norm","low":0.5,"high":2}],` +
		`"runs":[{"sampling_rate":0.0213,"steps":1878,"noise_multiplier":1.9671869397891975}],"final_learning_rates":[0,0],"probability_of_missing":0.0067}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
