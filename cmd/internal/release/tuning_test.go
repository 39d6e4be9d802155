package release

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/tuner"
)

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
