package experiment

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

func experiment(t *testing.T, overrides ...string) settings.Experiment {
	t.Helper()
	var all []settings.Override
	for _, text := range overrides {
		o, err := settings.ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	e, err := settings.Resolve(settings.File{}, all)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Noise multipliers of the paper's learning-rate experiment on MNIST, made with 60 digits by the project's
// reference (mu 15, q 0.1, delta 1e-5, orders 2..256, the paper's bounds).
func TestMNISTNoiseIsTheReference(t *testing.T) {
	for variant, want := range map[string][3]float64{ // at total epsilon 1, 2 and 4
		"baseline": {10.395216396240157, 5.420998707117095, 2.8797713915759156},
		"1":        {4.220871003259547, 2.7972947809216553, 1.9671869397891975},
		"2":        {4.940871525451937, 3.1481996736840063, 2.140678311302389},
	} {
		for i, epsilon := range []string{"1", "2", "4"} {
			e := experiment(t, "dataset=mnist", "privacy.accounting=paper", "privacy.variant="+variant, "privacy.epsilon="+epsilon)
			settings, privacy, err := planTuning(e, 60000)
			if err != nil {
				t.Fatal(err)
			}
			if got := privacy.NoiseMultiplier; math.Abs(got/want[i]-1) > 1e-8 {
				t.Errorf("variant %s, epsilon %s: noise %v, want %v", variant, epsilon, got, want[i])
			}
			if privacy.Steps != 1878 || privacy.Epsilon > *e.Privacy.Epsilon {
				t.Errorf("variant %s, epsilon %s: %d steps, epsilon %v", variant, epsilon, privacy.Steps, privacy.Epsilon)
			}
			for _, c := range settings.Space.(tuner.Grid) {
				if c.NoiseMultiplier != privacy.NoiseMultiplier {
					t.Errorf("a candidate has noise %v, the statement %v", c.NoiseMultiplier, privacy.NoiseMultiplier)
				}
			}
		}
	}
}

// The statement has the accountant's epsilon for the event of the plan.
func TestStatementsAreThoseOfTheEvents(t *testing.T) {
	for i, variant := range []string{"2", "1", "baseline"} {
		e := experiment(t, "privacy.variant="+variant)
		if long.Leaves(i, 3) {
			e.Privacy.Accounting = "tight"
		}
		tuning, stated, err := planTuning(e, 1000)
		if err != nil {
			t.Fatal(err)
		}
		checkStated(t, variant, stated.Epsilon, tuning.Event(), e)
	}
	e := experiment(t, "privacy.noise_multiplier=1.5")
	single, stated, err := planTraining(e, 1000)
	if err != nil {
		t.Fatal(err)
	}
	checkStated(t, "single", stated.Epsilon, single.Privacy.Event(), e)
}

func checkStated(t *testing.T, name string, stated float64, event accountant.Event, e settings.Experiment) {
	t.Helper()
	g, err := accountant.Epsilon(event, e.Privacy.Delta, accountant.Options{Mode: accountant.Mode(e.Privacy.Accounting)})
	if err != nil {
		t.Fatal(err)
	}
	if g.Epsilon != stated {
		t.Errorf("%s: stated epsilon %v, the event's is %v", name, stated, g.Epsilon)
	}
}

// Settings and package train take the same clipping norms.
func TestClippingNormsAreThoseThatTrain(t *testing.T) {
	for c, want := range map[float64]bool{9.9e-10: false, 1e-9: true, 1: true, 1e9: true, 1.1e9: false} {
		e := experiment(t)
		e.Privacy.ClippingNorm = c
		p := train.Privacy{SamplingRate: 1, ClippingNorm: c, NominalSize: 1}
		if given, trained := e.Validate() == nil, p.Validate() == nil; given != want || trained != want {
			t.Errorf("%v: settings take it: %t, training does: %t, want %t", c, given, trained, want)
		}
	}
}

func TestPerformanceNeverChangesThePlan(t *testing.T) {
	e := experiment(t, "privacy.accounting=paper") // the fastest, for a hundred calibrations
	want, wantPrivacy, err := planTuning(e, 1000)
	if err != nil {
		t.Fatal(err)
	}
	long.Check(t, 40, func(t *rapid.T) {
		changed := e
		changed.Performance = settings.Performance{
			Workers: rapid.IntRange(0, 1000).Draw(t, "workers"),
			Engine:  rapid.SampledFrom(settings.Engines()).Draw(t, "engine"),
			Devices: rapid.SliceOf(rapid.IntRange(0, 100)).Draw(t, "devices"),
		}
		got, gotPrivacy, err := planTuning(changed, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(wantPrivacy, gotPrivacy) + cmp.Diff(want.Event(), got.Event()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryDatasetHasAPresetThatPlans(t *testing.T) {
	infos, err := datasets.List(datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range infos {
		if info.Kind == datasets.KindWeights {
			continue
		}
		name := info.Name
		e := experiment(t, "dataset="+name)
		if long.Leaves(i+1, 5) {
			e.Privacy.Accounting = "paper" // the fastest
		}
		samples, err := Describe(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := planTuning(e, samples.Train); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := planTraining(e, samples.Train); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := networks.Check(e.Model); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
