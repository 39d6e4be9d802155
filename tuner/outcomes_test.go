package tuner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/train"
)

// An impossible outcome is refused, whatever is wrong, and the error names its trial. The trial is still missing: the
// right outcome is accepted afterwards.
func TestWrongOutcomes(t *testing.T) {
	model := func(o *PrivateOutcome) *train.Parameter { return &o.Parameters[0] }
	for name, change := range map[string]func(*PrivateOutcome){
		"negative number":  func(o *PrivateOutcome) { o.Trial = -1 },
		"number beyond":    func(o *PrivateOutcome) { o.Trial = 4 },
		"NaN score":        func(o *PrivateOutcome) { o.Score = math.NaN() },
		"infinite score":   func(o *PrivateOutcome) { o.Score = math.Inf(1) },
		"lowest score":     func(o *PrivateOutcome) { o.Score = math.Inf(-1) },
		"score above 1":    func(o *PrivateOutcome) { o.Score = 1.01 },
		"negative score":   func(o *PrivateOutcome) { o.Score = -0.1 },
		"score, diverged":  func(o *PrivateOutcome) { o.Diverged, o.Parameters = true, nil },
		"score, failed":    func(o *PrivateOutcome) { o.Failure, o.Parameters = "x", nil },
		"low, failed":      func(o *PrivateOutcome) { o.Failure, o.Score, o.Parameters = "x", -1, nil },
		"diverged, failed": func(o *PrivateOutcome) { o.Diverged, o.Failure, o.Score, o.Parameters = true, "x", lowest, nil },
		"model, diverged":  func(o *PrivateOutcome) { o.Diverged, o.Score = true, lowest },
		"model, failed":    func(o *PrivateOutcome) { o.Failure, o.Score = "x", lowest },
		"no text":          func(o *PrivateOutcome) { o.Failure, o.Score, o.Parameters = "\xff", lowest, nil },
		"long text":        func(o *PrivateOutcome) { o.Failure, o.Score, o.Parameters = strings.Repeat("x", 65537), lowest, nil },
		"no model":         func(o *PrivateOutcome) { o.Parameters = nil },
		"two parameters":   func(o *PrivateOutcome) { o.Parameters = append(o.Parameters, o.Parameters[0]) },
		"name":             func(o *PrivateOutcome) { model(o).Name = "v" },
		"shape":            func(o *PrivateOutcome) { model(o).Shape = []int{2, 1} },
		"axes":             func(o *PrivateOutcome) { model(o).Shape = []int{2} },
		"values":           func(o *PrivateOutcome) { model(o).Values = model(o).Values[:1] },
		"NaN":              func(o *PrivateOutcome) { model(o).Values[1] = float32(math.NaN()) },
		"infinite":         func(o *PrivateOutcome) { model(o).Values[0] = float32(math.Inf(1)) },
		"seconds":          func(o *PrivateOutcome) { o.Trace.Seconds = -1 },
		"long, infinitely": func(o *PrivateOutcome) { o.Trace.Seconds = math.Inf(1) },
		"NaN seconds":      func(o *PrivateOutcome) { o.Trace.Seconds = math.NaN() },
	} {
		plan := planWith(t, settings(Baseline, 4), 4)
		for _, repaired := range []bool{false, true} {
			number, trial := 0, 0
			w, there := away(t, plan, &fakeLab{}, 5)
			there.alter = func(o *PrivateOutcome) *PrivateOutcome {
				if number++; number != 2 {
					return nil
				}
				right := *o
				right.Parameters = []train.Parameter{*model(o)}
				right.Parameters[0].Values = slices.Clone(model(o).Values)
				change(o)
				trial = o.Trial
				return &right
			}
			if repaired {
				w.Trials = patient{there}
			}
			results, err := (&fakeLab{}).executor(t).RunAll(background, w)
			var stopped *PlanError
			switch {
			case repaired:
				if want := mustRun(t, (&fakeLab{}).executor(t), plan); err != nil || !reflect.DeepEqual(timeless(results[0]), timeless(want)) {
					t.Errorf("%s, then right: %+v, %v", name, results, err)
				}
			case results != nil || !errors.Is(err, ErrOutcome) || strings.Contains(err.Error(), "ended before") || !errors.As(err, &stopped) || !strings.Contains(err.Error(), fmt.Sprintf("trial %d: ", trial)) || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s: %v, %v", name, results, err)
			}
		}
	}
}

// patient goes on after an outcome that was refused.
type patient struct{ *workers }

func (p patient) Run(ctx context.Context, plan Plan, trials []int, done func(PrivateOutcome) error) error {
	return p.workers.Run(ctx, plan, trials, func(o PrivateOutcome) error {
		if err := done(o); !errors.Is(err, ErrOutcome) {
			return err
		}
		return nil
	})
}

// Errors of the transport stop the plan: an outcome twice, one too few, an unwanted model. A late outcome changes
// nothing, nor do later changes of an outcome's slices.
func TestWrongTransports(t *testing.T) {
	plan := planWith(t, settings(Variant1, 3), 3)
	run := func(change func(*workers)) ([]Result, error) {
		w, there := away(t, plan, &fakeLab{}, 2)
		change(there)
		return (&fakeLab{}).executor(t).RunAll(background, w)
	}
	for name, second := range map[string]func(*PrivateOutcome) *PrivateOutcome{
		"twice": func(o *PrivateOutcome) *PrivateOutcome { return o },
		"a failure too": func(o *PrivateOutcome) *PrivateOutcome {
			return &PrivateOutcome{Trial: o.Trial, Score: lowest, Failure: "late"}
		},
	} {
		if _, err := run(func(w *workers) { w.alter = second }); !errors.Is(err, ErrOutcome) || !strings.Contains(err.Error(), "it has ended before") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := run(func(w *workers) {
		w.alter = func(o *PrivateOutcome) *PrivateOutcome {
			o.Parameters = []train.Parameter{{Name: "w", Shape: []int{1, 2}, Values: []float32{1, 2}}}
			return nil
		}
	}); !errors.Is(err, ErrOutcome) || !strings.Contains(err.Error(), "none are wanted") {
		t.Errorf("a model: %v", err)
	}
	w, there := away(t, plan, &fakeLab{}, 2)
	w.Trials = lazy{}
	if _, err := (&fakeLab{}).executor(t).RunAll(background, w); err == nil || !strings.Contains(err.Error(), "3 of 3 have no outcome, the first is trial 0") {
		t.Errorf("nothing: %v", err)
	}
	w.Trials = there
	there.die = 2
	if results, err := (&fakeLab{}).executor(t).RunAll(background, w); results != nil || !errors.Is(err, errDead) {
		t.Errorf("dies: %v", err)
	}
	there.die = 0
	results, err := (&fakeLab{}).executor(t).RunAll(background, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := there.late(PrivateOutcome{}); !errors.Is(err, errClosed) {
		t.Errorf("late: %v", err)
	}
	if want := mustRun(t, (&fakeLab{}).executor(t), plan); !reflect.DeepEqual(timeless(results[0]), timeless(want)) {
		t.Errorf("%+v, want %+v", results[0], want)
	}
}

type lazy struct{}

func (lazy) Run(context.Context, Plan, []int, func(PrivateOutcome) error) error { return nil }

// The plan's result shares no memory with outcomes, and no change of the handed-out plan reaches it.
func TestOutcomesAreCopied(t *testing.T) {
	plan := planWith(t, settings(Baseline, 3), 3)
	want := mustRun(t, (&fakeLab{}).executor(t), plan)
	w, there := away(t, plan, &fakeLab{}, 2)
	w.Trials = spoiler{there}
	results, err := (&fakeLab{}).executor(t).RunAll(background, w)
	if err != nil || !reflect.DeepEqual(results[0].Released, want.Released) {
		t.Fatalf("%+v, %v, want %+v", results, err, want)
	}
}

type spoiler struct{ *workers }

func (s spoiler) Run(ctx context.Context, plan Plan, trials []int, done func(PrivateOutcome) error) error {
	err := s.workers.Run(ctx, plan, trials, func(o PrivateOutcome) error {
		err := done(o)
		o.Parameters[0].Values[0], o.Parameters[0].Shape[0], o.Parameters[0].Name = 77, 77, "x"
		return err
	})
	for i := range plan.Private.Trials {
		plan.Private.Trials[i].Candidate.NoiseMultiplier, grid(plan.Settings)[0].NoiseMultiplier = 0, 0
	}
	return err
}
