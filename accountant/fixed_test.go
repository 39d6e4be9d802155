package accountant

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The best of K trials, K fixed, is charged as K Gaussian mechanisms, whose composition is one with noise/sqrt(K): its
// delta has a closed form.
func TestFixedTrialsOfGaussians(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 200).Draw(t, "trials")
		noise := math.Sqrt(float64(k)) * rapid.Float64Range(0.5, 8).Draw(t, "noise of all")
		epsilon := rapid.Float64Range(0.05, 3).Draw(t, "epsilon")
		g, err := Delta(SelectBest{Event: Gaussian{NoiseMultiplier: noise}, Repetitions: Fixed{k}}, epsilon, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := gaussianDelta(math.Sqrt(float64(k))/noise, epsilon)
		if want < 1e-12 {
			return // rounded up by more
		}
		if g.Delta < want*(1-1e-9) || g.Delta > want*1.02 {
			t.Fatalf("delta %v, want %v and at most 2 %% more", g.Delta, want)
		}
	})
}

func TestFixedTrials(t *testing.T) {
	for _, k := range []int{-1, 0, 1e6 + 1} {
		if err := Validate(Baseline(Fixed{k}, Gaussian{NoiseMultiplier: 1})); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d trials: %v", k, err)
		}
	}
	if got := (Fixed{7}).Draw(nil); got != 7 {
		t.Errorf("drew %d trials, want 7", got)
	}
	// Each of four independent trials misses a given one of three candidates with probability 2/3.
	if got, want := Missed(Fixed{4}, 3), 16./81; math.Abs(got-want) > 1e-15 {
		t.Errorf("missed %v, want %v", got, want)
	}
	if got, want := Missed(Fixed{7}, 5), Missed(Binomial{7, 1}, 5); math.Abs(got-want) > 1e-15 {
		t.Errorf("missed %v, and %v by seven trials that all take place", got, want)
	}
	// The bound is one on all trials, and no order of them attains it.
	for _, e := range []Event{Baseline(Fixed{3}, DPSGD(0.1, 2, 5)), Variant1(0.1, Fixed{3}, DPSGD(0.1, 2, 5)), Variant2(0.1, Fixed{3}, DPSGD(0.1, 2, 5))} {
		if _, err := Attained(e, 1e-5); !errors.Is(err, ErrInvalid) {
			t.Errorf("attained of %#v: %v", e, err)
		}
	}
	text, err := MarshalEvent(Baseline(Fixed{3}, Gaussian{NoiseMultiplier: 2}))
	const want = `{"kind":"select_best","repetitions":{"kind":"fixed","trials":3},"event":{"kind":"gaussian","noise_multiplier":2}}`
	if err != nil || string(text) != want {
		t.Errorf("encoded %s, %v; want %s", text, err, want)
	}
	if e, err := UnmarshalEvent(text); err != nil || e != (SelectBest{Event: Gaussian{NoiseMultiplier: 2}, Repetitions: Fixed{3}}) {
		t.Errorf("decoded %#v, %v", e, err)
	}
}
