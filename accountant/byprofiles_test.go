package accountant

import (
	"errors"
	"testing"
)

// The bound by profiles is never below mode Best, and where nothing is selected it is the bound by privacy-loss
// distributions.
func TestByProfilesIsAboveBest(t *testing.T) {
	geometric, err := Geometric(15)
	if err != nil {
		t.Fatal(err)
	}
	run := DPSGD(0.01, 2, 5000)
	for _, k := range []Repetitions{Poisson{1}, Poisson{15}, geometric, Binomial{30, 0.5}} {
		for _, e := range []Event{Baseline(k, run), Variant1(0.1, k, run), Variant2(0.1, k, run)} {
			got, err := ByProfiles(e, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			least, most := mustEpsilon(t, e, 1e-5, Options{}), mustEpsilon(t, e, 1e-5, Options{Mode: Paper})
			if got < least || got > 1.1*most {
				t.Errorf("%#v: %v by profiles, %v in mode best and %v by the paper", e, got, least, most)
			}
		}
	}
	for _, e := range []Event{run, Baseline(Fixed{3}, run)} {
		got, err := ByProfiles(e, 1e-5)
		if want := mustEpsilon(t, e, 1e-5, Options{}); err != nil || got != want {
			t.Errorf("%#v: %v by profiles, want %v (%v)", e, got, want, err)
		}
	}
	if got, err := ByProfiles(PoissonSampled{0, run}, 1e-5); got != 0 || err != nil {
		t.Errorf("nothing costs %v (%v)", got, err)
	}
	if _, err := ByProfiles(Baseline(Poisson{-1}, run), 1e-5); !errors.Is(err, ErrInvalid) {
		t.Errorf("an invalid event: %v", err)
	}
	if _, err := ByProfiles(run, -1); !errors.Is(err, ErrInvalid) {
		t.Errorf("an invalid delta: %v", err)
	}
}
