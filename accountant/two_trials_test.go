package accountant

import "testing"

// The better of two trials costs little more if both are a little more probable, and hardly more than both trials.
func TestTwoTrialsOfAnyProbability(t *testing.T) {
	run := Gaussian{NoiseMultiplier: 2}
	for _, mode := range []Mode{Paper, Tight, Best} {
		both := mustEpsilon(t, Baseline(Fixed{2}, run), 1e-5, Options{Mode: mode})
		last := 0.0
		for _, p := range []float64{0.499, 0.4991, 0.9999, 1} {
			e := Baseline(Binomial{Trials: 2, Probability: p}, run)
			got := mustEpsilon(t, e, 1e-5, Options{Mode: mode})
			if got > both*(1+3e-4) {
				t.Errorf("mode %s, probability %v: epsilon %v, above %v of both", mode, p, got, both)
			}
			if !(got > last) || p == 0.4991 && got > last*(1+1e-3) || p == 1 && got > last*1.01 {
				t.Errorf("mode %s, probability %v: epsilon %v after %v", mode, p, got, last)
			}
			last = got
		}
	}
	e := Baseline(Binomial{Trials: 2, Probability: 0.7}, run)
	best := mustEpsilon(t, e, 1e-5, Options{})
	if least, err := Attained(e, 1e-5); err != nil || !(least <= best && least > 0.999*best) {
		t.Errorf("epsilon %v, attained %v, %v", best, least, err)
	}
}
