package experiment

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// 999 samples at q 0.1 are 99.9 in a trial, 1,000 are enough. The baseline has no subset, and a single run no trials.
func TestSubsetWarning(t *testing.T) {
	for _, c := range []struct {
		work work
		want string
	}{
		{tuning{tuner.Settings{Method: tuner.Variant1, SubsetRate: 0.1, Samples: 484}}, "a trial has 48 samples in expectation"},
		{tuning{tuner.Settings{Method: tuner.Variant2, SubsetRate: 0.1, Samples: 999}}, "a trial has 100 samples in expectation"},
		{tuning{tuner.Settings{Method: tuner.Variant1, SubsetRate: 0.1, Samples: 1000}}, ""},
		{tuning{tuner.Settings{Method: tuner.Baseline, SubsetRate: 0.1, Samples: 10}}, ""},
		{training{}, ""},
	} {
		got := (&Plan{work: c.work}).subsetWarning()
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c.work, got, c.want)
		}
	}
}

// The standard error of an accuracy of n rows is at most 50 points over the root of n: 5 for 100 rows.
func TestPublicWarning(t *testing.T) {
	classes := &table.Schema{Label: table.Label{Task: table.Classification}}
	numbers := &table.Schema{Label: table.Label{Task: table.Regression}}
	for _, c := range []struct {
		samples Samples
		tune    bool
		want    string
	}{
		{Samples{Test: 100, Schema: classes}, true, "100 public test rows select the best trial and score the model: an accuracy of so few is off by about 5 percentage points; give at least 200"},
		{Samples{Test: 100, Schema: classes}, false, "100 public test rows score the model: an accuracy"},
		{Samples{Test: 199, Schema: numbers}, false, "199 public test rows score the model: a score of so few is mostly chance"},
		{Samples{Test: 200, Schema: classes}, true, ""},
		{Samples{}, true, ""},
	} {
		got := (&Plan{Samples: c.samples, tune: c.tune}).publicWarning()
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c.samples, got, c.want)
		}
	}
}

// A plan says so before anything is trained.
func TestPlansOnFewRowsWarn(t *testing.T) {
	p := resolve(t, true, own(t)...) // 300 private rows and 60 public ones
	all := strings.Join(p.Cautions(), "\n")
	for _, want := range []string{"a trial has 30 samples", "60 public test rows"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
}

// 100 held-out samples and noise 10: the hypotenuse of 50/10 and 100*10/2/100 points is 7.07. R² has no points.
func TestHeldOutWarning(t *testing.T) {
	few := tuning{tuner.Settings{Samples: 1000, HoldOut: train.HeldOutSettings{Rate: 0.1, NoiseMultiplier: 10}}}
	numbers := Samples{Schema: &table.Schema{Label: table.Label{Task: table.Regression}}}
	for _, c := range []struct {
		plan *Plan
		want string
	}{
		{&Plan{work: few}, "an accuracy is off by about 7 percentage points"},
		{&Plan{work: few, Samples: numbers}, "a score of so few is mostly chance"},
		{&Plan{work: tuning{tuner.Settings{Samples: 10, HoldOut: train.HeldOutSettings{Rate: 0.1, NoiseMultiplier: 1e9}}}}, "by about 100 percentage points"},
	} {
		if got := c.plan.heldOutWarning(); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Scores are divided by the expected number of held-out rows: 5e-324 made infinite ones, after the budget was spent.
func TestHoldsOutARow(t *testing.T) {
	e := experiment(t, "privacy.holdout=5e-324")
	if _, _, err := planTuning(e, 2000); err == nil || !strings.Contains(err.Error(), "less than one row") {
		t.Error(err)
	}
}
