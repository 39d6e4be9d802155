package tuner

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// mnist returns the paper's experiment on MNIST, without noise.
func mnist(m Method) Settings {
	s := settings(m, 15)
	s.SubsetRate, s.Samples = 0.1, 60000
	s.Space = LearningRates(Candidate{SamplingRate: 0.0213, Steps: 1878, ClippingNorm: 1}, 0.1, 1)
	return s
}

// Noise multipliers were made with 60 digits by the project's reference (delta 1e-5, orders 2..256, the paper's
// bounds).
func TestCalibratedNoiseIsTheReference(t *testing.T) {
	for method, want := range map[Method][3]float64{ // at total epsilon 1, 2 and 4
		Baseline: {10.395216396240157, 5.420998707117095, 2.8797713915759156},
		Variant1: {4.220871003259547, 2.7972947809216553, 1.9671869397891975},
		Variant2: {4.940871525451937, 3.1481996736840063, 2.140678311302389},
	} {
		for i, epsilon := range []float64{1, 2, 4} {
			s, g, err := Calibrate(mnist(method), epsilon, 1e-5, accountant.Options{Mode: accountant.Paper})
			if err != nil {
				t.Fatal(err)
			}
			if got := grid(s)[0].NoiseMultiplier; math.Abs(got/want[i]-1) > 1e-8 {
				t.Errorf("%s, epsilon %v: noise %v, want %v", method, epsilon, got, want[i])
			}
			if !(g.Epsilon <= epsilon) || g.Delta != 1e-5 || g.Mode != accountant.Paper {
				t.Errorf("%s, epsilon %v: guarantee %+v", method, epsilon, g)
			}
		}
	}
}

// A guarantee can be computed without data.
func TestCalibrateNeedsOnlyWhatTheCostFollowsFrom(t *testing.T) {
	all := mnist(Variant1)
	part := Settings{Method: Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 15}, Space: Grid{{SamplingRate: 0.0213, Steps: 1878}}}
	_, want, err := Calibrate(all, 2, 1e-5, accountant.Options{Mode: accountant.Paper})
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := Calibrate(part, 2, 1e-5, accountant.Options{Mode: accountant.Paper})
	if err != nil || got != want {
		t.Errorf("guarantee %+v, %v, want %+v", got, err, want)
	}
	if err := part.Validate(); err == nil {
		t.Error("there is a plan for it")
	}
}

func TestGuarantee(t *testing.T) {
	s := mnist(Variant2)
	s.Space = grid(s).WithNoiseMultiplier(2.140678311302389) // epsilon 4: see TestCalibratedNoiseIsTheReference
	g, err := s.Guarantee(1e-5, accountant.Options{Mode: accountant.Paper})
	if err != nil || math.Abs(g.Epsilon-4) > 1e-8 {
		t.Errorf("guarantee %+v, %v, want epsilon 4", g, err)
	}
	if g, err := mnist(Variant2).Guarantee(1e-5, accountant.Options{Mode: accountant.Paper}); err != nil || !math.IsInf(g.Epsilon, 1) {
		t.Errorf("without noise: guarantee %+v, %v, want epsilon +Inf", g, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	isSetting := func(err error) bool { return errors.As(err, new(*train.SettingError)) }
	isEvent := func(err error) bool { return errors.As(err, new(*accountant.EventError)) }
	isInvalid := func(err error) bool { return errors.Is(err, accountant.ErrInvalid) }
	isInfeasible := func(err error) bool { return errors.Is(err, accountant.ErrInfeasible) }
	for _, tt := range []struct {
		name           string
		change         func(*Settings)
		epsilon, delta float64
		is             func(error) bool
		want           string
		guaranteed     bool // whether such settings have a guarantee
	}{
		{"method", func(s *Settings) { s.Method = "variant3" }, 4, 1e-5, isSetting, "tuning method is variant3", false},
		{"no method", func(s *Settings) { s.Method = "" }, 4, 1e-5, isSetting, "tuning method is ", false},
		{"q", func(s *Settings) { s.SubsetRate = 1 }, 4, 1e-5, isSetting, "subset rate is 1", false},
		{"no trials", func(s *Settings) { s.Repetitions = nil }, 4, 1e-5, isEvent, "no distribution of repetitions", false},
		{"no mean", func(s *Settings) { s.Repetitions = accountant.Poisson{} }, 4, 1e-5, isEvent, "mean 0 of Poisson", false},
		{"no space", func(s *Settings) { s.Space = nil }, 4, 1e-5, isEvent, "no candidates", false},
		{"sampling rate", func(s *Settings) { grid(*s)[1].SamplingRate = 2 }, 4, 1e-5, isEvent, "sampling probability 2", false},
		{"delta", nil, 4, 2, isInvalid, "delta 2", false},
		{"epsilon", nil, math.NaN(), 1e-5, isInvalid, "epsilon NaN", true},
		{"below the floor of the orders", nil, 0.001, 1e-5, isInfeasible, "epsilon 0.001 at delta 1e-05", true},
	} {
		s := mnist(Variant1)
		if tt.change != nil {
			tt.change(&s)
		}
		got, g, err := Calibrate(s, tt.epsilon, tt.delta, accountant.Options{Mode: accountant.Paper})
		if err == nil || !tt.is(err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if !reflect.DeepEqual(got, Settings{}) || g != (accountant.Guarantee{}) {
			t.Errorf("%s: settings %+v and guarantee %+v beside an error", tt.name, got, g)
		}
		if _, err := s.Guarantee(tt.delta, accountant.Options{Mode: accountant.Paper}); (err == nil) != tt.guaranteed || err != nil && !tt.is(err) {
			t.Errorf("%s: the guarantee's error is %v", tt.name, err)
		}
	}
}
