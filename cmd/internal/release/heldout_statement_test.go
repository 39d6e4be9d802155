package release

import (
	"strings"
	"testing"
)

// A statement describes the use of held-out samples and their noise, and says whether public samples were used too. A
// statement for units names the unit everywhere, and the number of rows kept of each.
func TestStatementOfHeldOutSamplesAndUnits(t *testing.T) {
	example := func(change func(*Release)) Release {
		r := example()
		r.Model.Dataset = "files"
		change(&r)
		return r
	}
	heldOut := func(r *Release) {
		r.Score.HeldOut = &[2]float64{0.9, 1}
		r.Privacy.Tuning.HeldOut = &HeldOut{Rate: 0.25, NoiseMultiplier: 8}
	}
	const estimate, noise = "an estimate with noise from training samples that were held out", "standard deviation 8/√2"
	const public, none, scored = "**The test set is public.**", "No public samples were used", "No model was scored on public samples"
	for name, c := range map[string]struct {
		release   Release
		has, lack []string
	}{
		"public rows": {example(func(r *Release) {}), []string{public, "in expectation (", "A sample, which is a row"}, []string{estimate, noise, none, scored, "held out", "unit"}},
		"held out":    {example(heldOut), []string{estimate, noise, public, scored, "with probability 0.25", "weren't held out"}, []string{none}},
		"no public rows": {example(func(r *Release) { heldOut(r); r.NoPublicRows = true }),
			[]string{estimate, noise, none}, []string{public, scored}},
		"fixed": {example(func(r *Release) { r.Privacy.Tuning.Repetitions, r.Privacy.Tuning.MeanRepetitions = "fixed", 7 }),
			[]string{"7 trials, a number fixed before"}, []string{"in expectation"}},
		"one row a unit": {example(func(r *Release) { r.Privacy.Unit, r.Privacy.RowsPerUnit = "who", 1 }),
			[]string{"one unit more", "1 row was kept", "A unit, which is a value of column who"}, []string{"one sample more", "A sample"}},
		"three rows a unit": {example(func(r *Release) { r.Privacy.Unit, r.Privacy.RowsPerUnit = "who", 3 }), []string{"3 rows were kept"}, nil},
		"warned":            {example(func(r *Release) { r.Model.Warning = "it learnt nothing" }), []string{"**It says that it learnt nothing.**"}, nil},
	} {
		got, err := c.release.Statement()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(string(got)), " ")
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		for _, not := range c.lack {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in %s", name, not, text)
			}
		}
	}
}
