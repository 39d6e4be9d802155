package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/long"
)

// planned runs "dptrain plan --json" with some flags.
func planned(t *testing.T, args ...string) comparedPlans {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := execute(context.Background(), append([]string{"plan", "--json"}, args...), &out, &complaints, false); code != term.CodeOK {
		t.Fatalf("%v: exit code %d, %s", args, code, complaints.String())
	}
	var r comparedPlans
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %v in %s", args, err, out.String())
	}
	return r
}

// The printed command line makes a plan of the recommended noise, in which a candidate is tried with the stated
// probability.
func TestRecommendedCommandIsTheRecommendedPlan(t *testing.T) {
	cases := [][]string{
		{"--accounting", "tight", "--epsilon", "2"},
		{"--accounting", "tight", "--dataset", "mnist", "--variant", "2", "--repetitions", "negative-binomial:3", "--set", "privacy.sampling_rate=0.03"},
		{"--accounting", "paper", "--variant", "baseline", "--repetitions", "poisson,negative-binomial", "--set", "tuning.learning_rates=[0.1, 1]", "--tried", "0.5"},
	}
	if long.Tests() { // the best bounds take seconds
		cases = append(cases, []string{"--q", "0.3", "--variant", "1", "--repetitions", "geometric", "--epsilon", "6"})
	}
	for _, args := range cases {
		r := planned(t, args...)
		words := strings.Fields(strings.NewReplacer("'tuning.learning_rates=[0.1, 1]'", "tuning.learning_rates=[0.1,1]").Replace(r.Command))
		var out, complaints bytes.Buffer
		if code := execute(context.Background(), append(words[1:], "--dry-run", "--json"), &out, &complaints, false); code != term.CodeOK {
			t.Fatalf("%s: exit code %d, %s", r.Command, code, complaints.String())
		}
		var dry planResult
		if err := json.Unmarshal(out.Bytes(), &dry); err != nil {
			t.Fatal(err)
		}
		if best := r.Recommended; dry.Privacy.NoiseMultiplier != *best.NoiseMultiplier || dry.Privacy.Epsilon != best.Guarantee {
			t.Errorf("%s: noise %v and epsilon %v, recommended %v and %v", r.Command, dry.Privacy.NoiseMultiplier, dry.Privacy.Epsilon, *best.NoiseMultiplier, best.Guarantee)
		}
		name := dry.Privacy.Tuning.Repetitions
		if shape := dry.Privacy.Tuning.Shape; shape != nil {
			name += ":" + release.Exact(*shape)
		}
		family, err := experiment.FamilyOf(settings.Privacy{}, name)
		if err != nil {
			t.Fatal(err)
		}
		k, err := family.OfMean(dry.Privacy.Tuning.MeanRepetitions)
		if err != nil {
			t.Fatal(err)
		}
		if tried := 1 - accountant.Missed(k, dry.Privacy.Tuning.Space.Candidates); tried < r.TriedAtLeast || math.Abs(tried-r.Recommended.Tried) > 1e-12 {
			t.Errorf("%s: a candidate is tried with probability %v, %v was said", r.Command, tried, r.Recommended.Tried)
		}
	}
}

// Gradients are the paper's formulas: E(mu q n + (1-q) n), E(mu q n + n), mu n E.
func TestPlannedGradients(t *testing.T) {
	r := planned(t, "--dataset", "mnist", "--accounting", "paper", "--repetitions", "poisson,geometric")
	const n, epochs = 60000, 0.0213 * 1878
	for _, p := range r.Plans {
		want := map[string]float64{
			"1":        epochs * (p.Mean*p.SubsetRate*n + (1-p.SubsetRate)*n),
			"2":        epochs * (p.Mean*p.SubsetRate*n + n),
			"baseline": p.Mean * n * epochs,
		}[p.Variant]
		if math.Abs(p.Gradients-want) > 1e-6*want { // bisection finds the parameter of a distribution of that mean
			t.Errorf("%+v: %v gradients, want %v", p, p.Gradients, want)
		}
	}
}

func TestPlanIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := execute(ctx, []string{"plan"}, io.Discard, io.Discard, false); code != term.CodeInterrupted {
		t.Errorf("exit code %d, want %d", code, term.CodeInterrupted)
	}
}
