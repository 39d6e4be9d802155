package accountant

import (
	"testing"
)

func TestCountsThatOverflow(t *testing.T) {
	e := SelfComposed{Event: SelfComposed{Event: DPSGD(0.01, 1, 10), Count: 1 << 40}, Count: 1 << 40}
	g, err := Epsilon(e, 1e-5, Options{Mode: Best})
	if err == nil && g.Epsilon < 1e6 {
		t.Errorf("epsilon %v", g.Epsilon)
	}
}

func TestFree(t *testing.T) {
	costly, nothing := Event(Gaussian{NoiseMultiplier: 1}), Event(Composed{})
	for _, e := range []Event{
		MaxOver{Events: []Event{nothing, costly}}, Parallel{Events: []Event{nothing, costly}},
		Composed{Events: []Event{nothing, costly}}, SelectBest{Event: costly, Repetitions: Poisson{Mean: 2}},
	} {
		if e.free() {
			t.Errorf("%#v is not free", e)
		}
	}
}
