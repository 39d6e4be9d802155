package tuner

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
)

// Each trial has its own settings, record and progress in any group.
func TestTrialsOfEveryGroupAreTheirOwn(t *testing.T) {
	lab := &fakeLab{}
	s := settings(Variant1, 130)
	plan := planWith(t, s, 130)
	e := lab.executor(t)
	finished := map[int]bool{}
	e.Progress = func(p PrivateProgress) {
		if p.Kind == Finished && !p.Final {
			finished[p.Trial] = true
		}
	}
	result := mustRun(t, e, plan)
	for i, got := range result.Private.Trials {
		c := plan.Private.Trials[i].Candidate
		job, ok := lab.jobs[plan.Private.Trials[i].Stream]
		if !ok || job.Optimizer.LearningRate != c.LearningRate {
			t.Fatalf("trial %d trained at rate %v (%v), want %v", i, job.Optimizer.LearningRate, ok, c.LearningRate)
		}
		if got.Trial != plan.Private.Trials[i] || got.Candidate != c {
			t.Fatalf("trial %d is recorded as %+v", i, got)
		}
		if !finished[i+1] {
			t.Fatalf("nobody was told of trial %d", i+1)
		}
	}
	if len(lab.jobs) != 131 {
		t.Errorf("%d different runs, want 130 trials and the final one", len(lab.jobs))
	}
}

// Nothing is released once the context is cancelled, though all trials took their steps.
func TestCancelledAfterTheLastStep(t *testing.T) {
	plan := planWith(t, settings(Baseline, 3), 3)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := 0
	lab := &fakeLab{after: func(engine.Job, int) {
		if steps++; steps == 30 {
			cancel()
		}
	}}
	if _, err := lab.executor(t).Run(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The final run has the winner's hyperparameters, at any position among the trials.
func TestTheWinnerNeedNotBeTheFirst(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		tried := 0
		for seed := range uint64(200) {
			plan := mustPlan(t, settings(m, 5), seed)
			if n := len(plan.Private.Trials); n < 2 || plan.Private.Trials[0].Candidate == plan.Private.Trials[n-1].Candidate {
				continue
			}
			last := len(plan.Private.Trials) - 1
			lab := &fakeLab{accuracy: func(j engine.Job) float64 {
				if j.Trial == plan.Private.Trials[last].Stream {
					return 0.75
				}
				return 0.25
			}}
			r := mustRun(t, lab.executor(t), plan)
			if h := r.Released.Hyperparameters; r.Private.Best != last || h.Tuned != plan.Private.Trials[last].Candidate || h.Optimizer.LearningRate != plan.Settings.FinalLearningRate(plan.Private.Trials[last].Candidate.LearningRate) {
				t.Fatalf("trial %d won, released %+v", r.Private.Best, h)
			}
			if m != Baseline && lab.jobs[finalStream].Optimizer.LearningRate != r.Released.Hyperparameters.Optimizer.LearningRate {
				t.Fatal("the final run has another rate than is released")
			}
			if tried++; tried == 5 {
				return
			}
		}
	})
}

// Changing a plan or its space during the run changes neither training nor charge.
func TestAPlanIsCarriedOutAsItWasChecked(t *testing.T) {
	s := settings(Variant2, 3)
	plan, event := planWith(t, s, 3), s.Event()
	lab := &fakeLab{}
	e := lab.executor(t)
	e.Progress = func(PrivateProgress) {
		for i := range grid(plan.Settings) {
			grid(plan.Settings)[i].NoiseMultiplier, grid(s)[i].NoiseMultiplier = 0, 1e-3
		}
	}
	if got := mustRun(t, e, plan).Released.Event; !reflect.DeepEqual(got, event) {
		t.Errorf("event %+v, want %+v", got, event)
	}
	for trial, j := range lab.jobs {
		if j.Mechanism.NoiseMultiplier != 2 {
			t.Errorf("trial %d has noise %v", trial, j.Mechanism.NoiseMultiplier)
		}
	}
}
