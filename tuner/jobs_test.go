package tuner

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train/engine"
)

// mechanismOf is what an engine must be told of a candidate that trains on nominally so many samples.
func mechanismOf(c Candidate, size float64) engine.Mechanism {
	return engine.Mechanism{SamplingProbability: c.SamplingRate, NoiseMultiplier: c.NoiseMultiplier, ClippingNorm: c.ClippingNorm, ExpectedBatchSize: c.SamplingRate * size}
}

// Each run has the noise, clipping norm, sampling rate and steps of its own candidate, which is what is charged, and the final
// run those of the winner: of no other candidate, and nobody's clipping norm beside another's noise. The candidates have nothing
// in common, and the third wins.
func TestRunsTrainWhatTheyDraw(t *testing.T) {
	candidates := Grid{
		{LearningRate: 0.1, SamplingRate: 0.1, Steps: 3, NoiseMultiplier: 2, ClippingNorm: 1},
		{LearningRate: 0.2, SamplingRate: 0.2, Steps: 5, NoiseMultiplier: 3, ClippingNorm: 0.25},
		{LearningRate: 0.4, SamplingRate: 0.05, Steps: 7, NoiseMultiplier: 5, ClippingNorm: 4},
		{LearningRate: 0.8, SamplingRate: 0.3, Steps: 2, NoiseMultiplier: 7, ClippingNorm: 16},
	}
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 12)
		s.Space = candidates
		plan := planWith(t, s, 12)
		sizes := map[Method][2]float64{Baseline: {200, 200}, Variant1: {40, 160}, Variant2: {40, 200}}[m]
		lab := &fakeLab{accuracy: func(job engine.Job) float64 {
			if job.Mechanism.ClippingNorm == 4 {
				return 0.75
			}
			return 0.25
		}}
		result := mustRun(t, lab.executor(t), plan)
		checked := lab.jobs
		steps, seen := 0, map[Candidate]bool{}
		for i, trial := range plan.Private.Trials {
			c, job := trial.Candidate, checked[uint32(i)+1]
			if !slices.Contains(candidates, c) {
				t.Errorf("trial %d draws %+v", i, c)
			}
			if want := mechanismOf(c, sizes[0]); job.Mechanism != want || job.Optimizer.LearningRate != c.LearningRate {
				t.Errorf("trial %d of %+v trains by %+v at %v", i, c, job.Mechanism, job.Optimizer.LearningRate)
			}
			steps += c.Steps
			seen[c] = true
		}
		if len(seen) != len(candidates) {
			t.Fatalf("%d candidates are tried: the test shows little", len(seen))
		}
		won := candidates[2]
		h := result.Released.Hyperparameters
		if h.Tuned != won || h.Privacy.NoiseMultiplier != won.NoiseMultiplier || h.Privacy.ClippingNorm != won.ClippingNorm || h.Privacy.Steps != won.Steps ||
			h.Privacy.SamplingRate != won.SamplingRate || h.Privacy.NominalSize != sizes[1] {
			t.Errorf("released %+v", h)
		}
		if m != Baseline {
			steps += won.Steps
			if final := checked[FinalStream]; final.Mechanism != mechanismOf(won, sizes[1]) {
				t.Errorf("the final run trains by %+v", final.Mechanism)
			}
		}
		if lab.stepped != steps {
			t.Errorf("%d steps are taken, want %d", lab.stepped, steps)
		}
	})
}

// The same for candidates that are drawn from ranges and fitted below a line, and what is charged is the line.
func TestRunsOfARegionTrainWhatTheyDraw(t *testing.T) {
	r := region()
	r.Epochs = Between(0.2, 0.5)
	s := searching(t, Variant1, r)
	plan := planWith(t, s, 12)
	lab := &fakeLab{}
	result := mustRun(t, lab.executor(t), plan)
	steps := 0
	for i, trial := range plan.Private.Trials {
		c, job := trial.Candidate, lab.jobs[uint32(i)+1]
		if want := mechanismOf(c, 40); job.Mechanism != want || job.Optimizer.LearningRate != c.LearningRate {
			t.Errorf("trial %d of %+v trains by %+v at %v", i, c, job.Mechanism, job.Optimizer.LearningRate)
		}
		steps += c.Steps
	}
	won := plan.Private.Trials[result.Private.Best].Candidate
	if final := lab.jobs[FinalStream]; final.Mechanism != mechanismOf(won, 160) || final.Optimizer.LearningRate != s.FinalLearningRate(won.LearningRate) {
		t.Errorf("the final run of %+v trains by %+v at %v", won, final.Mechanism, final.Optimizer.LearningRate)
	}
	if lab.stepped != steps+won.Steps || result.Released.Hyperparameters.Tuned != won {
		t.Errorf("%d steps are taken, want %d; released %+v", lab.stepped, steps+won.Steps, result.Released.Hyperparameters)
	}
	line := s.Space.(Region).Line
	want := accountant.Variant1(0.2, accountant.Poisson{Mean: 15}, line)
	if g, err := accountant.Epsilon(result.Released.Event, 1e-5, accountant.Options{Mode: accountant.Tight}); err != nil || g.Epsilon > 4 {
		t.Errorf("the release costs %+v, %v", g, err)
	} else if w, err := accountant.Epsilon(want, 1e-5, accountant.Options{Mode: accountant.Tight}); err != nil || math.Abs(w.Epsilon-g.Epsilon) > 1e-12 {
		t.Errorf("the release costs %v, the line %v, %v", g.Epsilon, w.Epsilon, err)
	}
}
