package experiment

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
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

// recorder is a follower that keeps its reports.
type recorder struct {
	notes, warnings []string
	progress        int
	trials          []tuner.PrivateProgress
}

func (r *recorder) Note(text string)                  { r.notes = append(r.notes, text) }
func (r *recorder) Warn(text string)                  { r.warnings = append(r.warnings, text) }
func (r *recorder) Progress(float64, float64, string) { r.progress++ }
func (r *recorder) Tuning(p tuner.PrivateProgress)    { r.trials = append(r.trials, p) }

func TestFallbackIsOneLine(t *testing.T) {
	var r recorder
	warnOfFallback(&r, nil)
	warnOfFallback(&r, errors.Join(errors.New("no GPU has it"), errors.New("nor has the CPU")))
	if len(r.warnings) != 1 || !strings.HasSuffix(r.warnings[0], ": no GPU has it; nor has the CPU") {
		t.Errorf("got %q", r.warnings)
	}
}
