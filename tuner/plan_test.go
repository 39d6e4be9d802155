package tuner

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

func anySettings(t *rapid.T) Settings {
	s := settings(rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(t, "method"), 1)
	s.SubsetRate = rapid.Float64Range(0.001, 0.999).Draw(t, "subset rate")
	s.Samples = rapid.IntRange(1, 500).Draw(t, "samples")
	s.Repetitions = anyRepetitions(t)
	s.Space = grid(s)[:rapid.IntRange(1, 3).Draw(t, "candidates")]
	return s
}

func anyRepetitions(t *rapid.T) accountant.Repetitions {
	mean := rapid.Float64Range(0.01, 30).Draw(t, "mean")
	switch rapid.IntRange(0, 2).Draw(t, "distribution") {
	case 0:
		return accountant.Poisson{Mean: mean}
	case 1:
		return accountant.TruncatedPoisson{Rate: mean}
	}
	r, err := accountant.NegativeBinomial(rapid.Float64Range(-0.5, 5).Draw(t, "shape"), 1+mean)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlanInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, seed := anySettings(t), rapid.Uint64().Draw(t, "seed")
		plan, err := NewPlan(s, train.InsecureKey(seed))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := NewPlan(s, train.InsecureKey(seed)); !reflect.DeepEqual(again, plan) {
			t.Fatal("the same settings and key give another plan")
		}
		checkTrials(t, plan)
		checkSubset(t, plan)
	})
}

func checkTrials(t *rapid.T, plan Plan) {
	if _, canBeNone := plan.Settings.Repetitions.(accountant.Poisson); !canBeNone && len(plan.Private.Trials) == 0 {
		t.Fatalf("no trial with %#v", plan.Settings.Repetitions)
	}
	for i, trial := range plan.Private.Trials {
		if trial.Stream != uint32(i)+1 || trial.Stream == finalStream {
			t.Fatalf("trial %d has stream %d", i, trial.Stream)
		}
		if !slices.Contains(grid(plan.Settings), trial.Candidate) {
			t.Fatalf("trial %d has candidate %+v of %+v", i, trial.Candidate, plan.Settings.Space)
		}
		if got := plan.trial(i); got.Trial != trial.Stream || !reflect.DeepEqual(got.Members, plan.Private.Subset) {
			t.Fatalf("trial %d trains as %+v", i, got)
		}
	}
	if got := plan.final(plan.First); got.Trial != finalStream || !reflect.DeepEqual(got.Members, plan.Private.Rest) {
		t.Fatalf("the final run trains as %+v", got)
	}
}

func checkSubset(t *rapid.T, plan Plan) {
	subset, rest := plan.Private.Subset, plan.Private.Rest
	switch plan.Settings.Method {
	case Baseline:
		if subset != nil || rest != nil {
			t.Fatalf("the baseline plays on %v and %v, not on all", subset, rest)
		}
		return
	case Variant2:
		if rest != nil {
			t.Fatalf("variant 2's final run plays on %v, not on all", rest)
		}
	case Variant1:
		all := slices.Sorted(slices.Values(slices.Concat(subset, rest)))
		if rest == nil || len(all) != plan.Settings.Samples || len(slices.Compact(all)) != plan.Settings.Samples {
			t.Fatalf("%v and %v don't share out %d samples", subset, rest, plan.Settings.Samples)
		}
	}
	if subset == nil {
		t.Fatal("an empty subset is nil, which means all samples")
	}
	for i, m := range subset {
		if m < 0 || int(m) >= plan.Settings.Samples || i > 0 && m <= subset[i-1] {
			t.Fatalf("subset %v of %d samples isn't sorted and unique", subset, plan.Settings.Samples)
		}
	}
}

func TestPlanNeedsAKey(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		_, err := NewPlan(settings(m, 3), train.Key{})
		var setting *train.SettingError
		if !errors.As(err, &setting) || err.Error() != "key is zero: want one from train.NewKey" {
			t.Errorf("got %v", err)
		}
	})
}

// More trials don't change the earlier ones.
func TestCandidatesDoNotDependOnK(t *testing.T) {
	few, many := mustPlan(t, settings(Variant1, 2), 5), mustPlan(t, settings(Variant1, 50), 5)
	n := min(len(few.Private.Trials), len(many.Private.Trials))
	if n == 0 || len(many.Private.Trials) == n {
		t.Fatalf("%d and %d trials tell nothing", len(few.Private.Trials), len(many.Private.Trials))
	}
	if !slices.Equal(few.Private.Trials[:n], many.Private.Trials[:n]) {
		t.Error("they differ")
	}
}

// The theorem is about candidates that are drawn independently: no two trials may share a draw.
func TestCandidatesAreApart(t *testing.T) {
	drawn := map[float64]bool{}
	trials := mustPlan(t, searching(t, Variant1, region()), 5).Private.Trials
	for _, trial := range trials {
		drawn[trial.Candidate.LearningRate] = true
	}
	if len(trials) < 5 || len(drawn) != len(trials) {
		t.Errorf("%d learning rates in %d trials", len(drawn), len(trials))
	}
}

// The seeds are fixed. Each bound is five standard deviations of its statistic. With new seeds a right implementation
// would exceed any of them with probability below 1e-5 in total.
func TestDrawsHaveTheirDistributions(t *testing.T) {
	const runs, mean = 4000, 3.5
	s := settings(Variant1, mean)
	s.SubsetRate = 0.3
	var k, k2, zero, members, pairs, alike float64
	candidates := map[Candidate]float64{}
	inSubset := make([]float64, s.Samples)
	for seed := range uint64(runs) {
		draws := mustPlan(t, s, seed).Private
		n := float64(len(draws.Trials))
		k, k2 = k+n, k2+n*n
		if n == 0 {
			zero++
		}
		for _, trial := range draws.Trials {
			candidates[trial.Candidate]++
		}
		if n >= 2 {
			pairs++
			if draws.Trials[0].Candidate == draws.Trials[1].Candidate {
				alike++
			}
		}
		members += float64(len(draws.Subset))
		for _, m := range draws.Subset {
			inSubset[m]++
		}
	}
	near := func(what string, got, want, deviation float64) {
		t.Helper()
		if math.Abs(got-want) > 5*deviation {
			t.Errorf("%s: %v, want %v within %v", what, got, want, 5*deviation)
		}
	}
	near("mean of K", k/runs, mean, math.Sqrt(mean/runs))
	near("variance of K", k2/runs-(k/runs)*(k/runs), mean, math.Sqrt((mean+2*mean*mean)/runs))
	none := math.Exp(-mean)
	near("share of K = 0", zero/runs, none, math.Sqrt(none*(1-none)/runs))
	if len(candidates) != 3 {
		t.Errorf("%d candidates were drawn", len(candidates))
	}
	for i, n := range candidates {
		near(fmt.Sprintf("share of candidate %v", i), n/k, 1.0/3, math.Sqrt(2.0/9/k))
	}
	near("share of first two trials alike", alike/pairs, 1.0/3, math.Sqrt(2.0/9/pairs))
	draws := float64(runs * s.Samples)
	near("share of samples in X1", members/draws, 0.3, math.Sqrt(0.21/draws))
	for i, n := range inSubset {
		near(fmt.Sprintf("share of runs with sample %d in X1", i), n/runs, 0.3, math.Sqrt(0.21/runs))
	}
}

func TestPlanKeepsItsDrawsPrivate(t *testing.T) {
	public := mustPlan(t, settings(Variant1, 20), 1)
	other := mustPlan(t, settings(Variant1, 20), 2)
	if reflect.DeepEqual(public.Private, other.Private) {
		t.Fatal("two keys give the same draws")
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if a, b := fmt.Sprintf(format, public), fmt.Sprintf(format, other); a != b {
			t.Errorf("%s prints private draws:\n%s\n%s", format, a, b)
		}
		if got := fmt.Sprintf(format, public.Private); got != "private" {
			t.Errorf("%s prints %s", format, got)
		}
	}
	a, err := json.Marshal(public)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(other); string(a) != string(b) {
		t.Errorf("JSON holds private draws:\n%s\n%s", a, b)
	}
	if text := fmt.Sprint(public); !strings.Contains(text, "variant1") || !strings.Contains(text, "0.2") {
		t.Errorf("it doesn't tell the public part: %s", text)
	}
}
