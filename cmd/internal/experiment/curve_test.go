package experiment

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// A point of a curve states the epsilon of a whole unit for its steps, and never more than the run does: the run's
// guarantee covers each of its points.
func TestEpsilonsOfACurve(t *testing.T) {
	run := train.Privacy{SamplingRate: 0.1, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 10, NominalSize: 100}
	p := &Plan{Experiment: experiment(t), work: training{train.Settings{Privacy: run}, 3}}
	unit := accountant.GroupOf{Event: accountant.DPSGD(0.1, 2, 4), Size: 3}
	four, err := accountant.Epsilon(unit, 1e-5, Accounting(p.Experiment.Privacy))
	if err != nil {
		t.Fatal(err)
	}
	points := []train.Point{{Step: 0}, {Step: 4}, {Step: 10}}
	for stated, want := range map[float64][]float64{100: {0, four.Epsilon, 100}, 0.01: {0, 0.01, 0.01}} {
		p.privacy.Epsilon, p.privacy.Delta = stated, 1e-5
		if c := p.curve(points); !slices.Equal(c.Epsilons, want) {
			t.Errorf("of a run of epsilon %v the points have %v, want %v", stated, c.Epsilons, want)
		}
	}
}
