package tuner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

var background = context.Background()

func methods(t *testing.T, test func(t *testing.T, m Method)) {
	for _, m := range []Method{Baseline, Variant1, Variant2} {
		t.Run(string(m), func(t *testing.T) { test(t, m) })
	}
}

func mustRun(t testing.TB, e Executor, plan Plan) Result {
	t.Helper()
	result, err := e.Run(background, plan)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// timeless returns a result without its timings.
func timeless(r Result) Result {
	r.Private.FinalSeconds = 0
	for i := range r.Private.Trials {
		r.Private.Trials[i].Seconds = 0
	}
	return r
}

func TestRunFollowsThePaper(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		lab := &fakeLab{}
		// No trial has a final run's learning rate, so the final run's accuracy is always 0.125.
		accuracy := map[float64]float64{0.1: 0.5, 1: 0.75, 10: 0.25}
		lab.accuracy = func(job engine.Job) float64 {
			if job.Trial == finalStream {
				return 0.125
			}
			return accuracy[job.Optimizer.LearningRate]
		}
		s := settings(m, 6)
		plan := planWith(t, s, 8)
		result := mustRun(t, lab.executor(t), plan)

		if !reflect.DeepEqual(result.Released.Event, s.Event()) {
			t.Errorf("event %+v, want %+v", result.Released.Event, s.Event())
		}
		first := -1 // of the trials with the best rate
		for i, trial := range result.Private.Trials {
			want := PrivateTrial{Trial: plan.Private.Trials[i], Score: accuracy[trial.Candidate.LearningRate], Seconds: trial.Seconds}
			if !reflect.DeepEqual(trial, want) {
				t.Errorf("trial %d: %+v, want %+v", i, trial, want)
			}
			if first < 0 && plan.Private.Trials[i].Candidate.LearningRate == 1 {
				first = i
			}
		}
		if result.Private.Best != first {
			t.Errorf("trial %d won, want the first of the best, %d", result.Private.Best, first)
		}
		h := result.Released.Hyperparameters
		if h.Tuned != grid(s)[1] || h.Optimizer.LearningRate != s.FinalLearningRate(1) {
			t.Errorf("hyperparameters %+v", h)
		}
		best, final := lab.jobs[uint32(first)+1], lab.jobs[finalStream]
		if m == Baseline {
			if result.Released.TestScore != 0.75 || result.Private.SubsetSize != 200 {
				t.Errorf("accuracy %v, |X1| = %d", result.Released.TestScore, result.Private.SubsetSize)
			}
			if lab.stepped != 8*10 || best.Members != nil {
				t.Errorf("%d steps, members %v", lab.stepped, best.Members)
			}
			return
		}
		if result.Released.TestScore != 0.125 || result.Private.SubsetSize != len(plan.Private.Subset) {
			t.Errorf("accuracy %v, |X1| = %d", result.Released.TestScore, result.Private.SubsetSize)
		}
		if lab.stepped != 9*10 || !reflect.DeepEqual(best.Members, plan.Private.Subset) || !reflect.DeepEqual(final.Members, plan.Private.Rest) {
			t.Errorf("%d steps; trials on %v, final run on %v", lab.stepped, best.Members, final.Members)
		}
		if final.Optimizer.LearningRate != s.FinalLearningRate(1) || final.Mechanism.ExpectedBatchSize != 0.1*s.finalSize() {
			t.Errorf("final run with %+v, %+v", final.Optimizer, final.Mechanism)
		}
	})
}

// Fallback is called with the reason why an engine was skipped.
func TestFallbackIsTold(t *testing.T) {
	for _, lacks := range []bool{false, true} {
		var told []error
		e := (&fakeLab{}).executor(t)
		if lacks {
			e.Engine = engine.FirstOf(without{}, e.Engine)
		}
		e.Fallback = func(reason error) { told = append(told, reason) }
		mustRun(t, e, planWith(t, settings(Variant1, 3), 3))
		var reason *engine.UnsupportedError
		if lacks != (len(told) == 1) || lacks && (!errors.As(told[0], &reason) || reason.Operation != "softmax") {
			t.Errorf("told %v", told)
		}
	}
}

type without struct{}

func (without) Name() string { return "poor" }
func (without) Load(*compile.Program, *engine.Data) (engine.Loaded, error) {
	return nil, &engine.UnsupportedError{Engine: "poor", Operation: "softmax"}
}

// Runs are independent: no two begin with the same parameters or share a stream of noise.
func TestRunsBeginIndependently(t *testing.T) {
	lab := &fakeLab{}
	mustRun(t, lab.executor(t), planWith(t, settings(Variant1, 6), 6))
	if len(lab.jobs) != 7 {
		t.Fatalf("%d streams for 7 runs", len(lab.jobs))
	}
	seen := map[float32]bool{}
	for _, job := range lab.jobs {
		seen[job.Initial[0]] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d different beginnings of 7 runs", len(seen))
	}
	if lab.open != 0 {
		t.Errorf("%d runs left open", lab.open)
	}
}

func TestNoTrials(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		lab := &fakeLab{accuracy: func(engine.Job) float64 { return 0.5 }}
		plan := planWith(t, settings(m, 1e-9), 0)
		result := mustRun(t, lab.executor(t), plan)
		if result.Private.Best != -1 || len(result.Private.Trials) != 0 {
			t.Errorf("private part %+v", result.Private)
		}
		if result.Released.Hyperparameters.Tuned != plan.First || result.Released.TestScore != 0.5 {
			t.Errorf("released %+v", result.Released)
		}
		if m != Baseline {
			if lab.stepped != 10 {
				t.Errorf("%d steps, want the final run's 10", lab.stepped)
			}
			return
		}
		// The baseline's answer must not depend on the data, not even through its accuracy on the training set.
		e := lab.executor(t)
		e.Data = labelled(t, 200, 99).Data
		if other := mustRun(t, e, plan); !reflect.DeepEqual(other.Released, result.Released) {
			t.Errorf("other data: %+v, want %+v", other.Released, result.Released)
		}
		if want := drawn(plan.Private.Key.Stream(random.ID{Purpose: random.Initialisation, Trial: finalStream}))[0]; !reflect.DeepEqual(result.Released.Parameters[0].Values, want) {
			t.Errorf("released %v, want the untrained %v", result.Released.Parameters, want)
		}
	})
}

// Trials that diverge or fail score lowest and still count.
func TestBadTrialsCount(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		broken := errors.New("out of memory")
		lab := &fakeLab{
			accuracy: func(job engine.Job) float64 { return 0 }, // a bad model still beats none
			diverge:  func(job engine.Job) bool { return job.Trial == 1 || job.Trial == 4 },
			fail: func(job engine.Job) error {
				if job.Trial == 2 {
					return broken
				}
				return nil
			},
		}
		var failures atomic.Int32
		e := lab.executor(t)
		e.Progress = func(p PrivateProgress) {
			if errors.Is(p.Err, broken) && p.Trial == 2 && p.Kind == Finished {
				failures.Add(1)
			}
		}
		result := mustRun(t, e, planWith(t, settings(m, 5), 5))
		trials := result.Private.Trials
		if len(trials) != 5 || result.Private.Best != 2 {
			t.Fatalf("%d trials, trial %d won", len(trials), result.Private.Best)
		}
		for i, want := range []float64{lowest, lowest, 0, lowest, 0} {
			diverged, failed := i == 0 || i == 3, i == 1
			if trials[i].Score != want || trials[i].Diverged != diverged || (trials[i].Failure != "") != failed {
				t.Errorf("trial %d: %+v", i, trials[i])
			}
		}
		if failures.Load() != 1 {
			t.Errorf("the failure was told %d times", failures.Load())
		}
	})
}

func TestAllTrialsDiverge(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		lab := &fakeLab{diverge: func(job engine.Job) bool { return job.Trial != finalStream }}
		plan := planWith(t, settings(m, 3), 3)
		result, err := lab.executor(t).Run(background, plan)
		if m == Baseline {
			if !errors.Is(err, train.ErrDiverged) {
				t.Errorf("got %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if result.Private.Best != 0 || result.Released.Hyperparameters.Tuned != plan.Private.Trials[0].Candidate {
			t.Errorf("trial %d won with %+v", result.Private.Best, result.Released.Hyperparameters)
		}
	})
}

// A run that fails while the others are paused, to save their states, doesn't end them. A lost device is still no
// trial's outcome, and no outcome is kept.
func TestARunFailsBeforeAPause(t *testing.T) {
	for _, c := range []error{errors.New("its own fault"), fmt.Errorf("some GPU: %w", engine.ErrLost)} {
		lab := &fakeLab{
			fail: func(job engine.Job) error {
				if job.Trial == 2 {
					return c
				}
				return nil
			},
			after: func(engine.Job, int) { time.Sleep(2 * time.Millisecond) },
		}
		store := &shelf{kept: map[string][]byte{}, left: -1}
		x := lab.executor(t)
		x.Keeper = train.Keeper{Store: store, Every: 10 * time.Millisecond}
		result, err := x.Run(background, planWith(t, settings(Variant2, 3), 3))
		if errors.Is(c, engine.ErrLost) {
			if !errors.Is(err, c) || store.kept["outcomes"] != nil {
				t.Errorf("lost: %v, and kept outcomes %s", err, store.kept["outcomes"])
			}
			continue
		}
		if err != nil {
			t.Error(err)
		}
		for i, trial := range result.Private.Trials {
			if (trial.Failure != "") != (i == 1) {
				t.Errorf("trial %d failed by %q", i+1, trial.Failure)
			}
		}
	}
}

func TestFinalRunDivergesOrFails(t *testing.T) {
	final := func(job engine.Job) bool { return job.Trial == finalStream }
	plan := planWith(t, settings(Variant2, 3), 3)
	if _, err := (&fakeLab{diverge: final}).executor(t).Run(background, plan); !errors.Is(err, train.ErrDiverged) {
		t.Errorf("diverged: %v", err)
	}
	broken := errors.New("device lost")
	lab := &fakeLab{fail: func(job engine.Job) error {
		if final(job) {
			return broken
		}
		return nil
	}}
	if _, err := lab.executor(t).Run(background, plan); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "final run: ") {
		t.Errorf("failed: %v", err)
	}
}

func TestProgress(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 6)
		grid(s)[1].Steps = 20 // the winner is dearer than the others
		plan := planWith(t, s, 6)
		lab := &fakeLab{accuracy: scores(map[float64]float64{0.1: 0.25, 1: 0.75, 10: 0.5})}
		e := lab.executor(t)
		var inside atomic.Int32
		var last PrivateProgress
		kinds := map[Kind]int{}
		e.Progress = func(p PrivateProgress) {
			if inside.Add(1) != 1 {
				t.Error("called concurrently")
			}
			defer inside.Add(-1)
			kinds[p.Kind]++
			if p.Trials != 6 || p.Step > p.Steps || p.Done < last.Done || p.TrialsDone < last.TrialsDone || p.Final != (p.Trial == 0) {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}
		result := mustRun(t, e, plan)
		if result.Released.Hyperparameters.Privacy.Steps != 20 {
			t.Fatalf("won by %+v", result.Released.Hyperparameters)
		}
		runs := 7
		if m == Baseline {
			runs = 6
		} else if last.Score != result.Released.TestScore || !last.Final {
			t.Errorf("ended with %+v", last)
		}
		if kinds[Started] != runs || kinds[Finished] != runs || last.TrialsDone != 6 {
			t.Errorf("%v and %+v for %d runs", kinds, last, runs)
		}
		if math.Abs(last.Done-last.Total) > 1e-9*last.Total {
			t.Errorf("ended with %v of %v done", last.Done, last.Total)
		}
	})
}

const otherPlan = "plan is not what its settings and key draw: want one from tuner.NewPlan, unchanged"

// Plans and executors that can't work are refused before the first step.
func TestRunChecksFirst(t *testing.T) {
	wrong := errors.New("wrong")
	wide, err := train.NewClassification(make([]float32, 20), make([]int32, 10), 2)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*Executor, *Plan)
		want   string
	}{
		"settings": {func(_ *Executor, p *Plan) { p.Settings.SubsetRate = 2 }, "subset rate is 2"},
		"no key":   {func(_ *Executor, p *Plan) { p.Private.Key = train.Key{} }, "key is zero: want one from train.NewKey"},
		"literal":  {func(_ *Executor, p *Plan) { *p = Plan{Settings: p.Settings} }, "key is zero"},
		"no draws": {func(_ *Executor, p *Plan) { p.Private = PrivateDraws{Key: p.Private.Key} }, otherPlan},
		"no rest":  {func(_ *Executor, p *Plan) { p.Private.Rest = nil }, otherPlan}, // would mean all of X
		"fewer":    {func(_ *Executor, p *Plan) { p.Private.Trials = p.Private.Trials[:2] }, otherPlan},
		"method": {func(_ *Executor, p *Plan) {
			*p = planWith(t, settings(Baseline, 3), 3)
			p.Settings.Method = Variant1
		}, otherPlan},
		"samples":  {func(e *Executor, p *Plan) { p.Settings.Samples, e.Data = 199, labelled(t, 199, 1).Data }, otherPlan},
		"data":     {func(e *Executor, _ *Plan) { e.Data = labelled(t, 199, 1).Data }, "number of samples is 200: want the data's 199"},
		"test set": {func(e *Executor, _ *Plan) { e.Test = wide }, "test set: column 0 holds 20 values for 10 samples"},
		"graph":    {func(e *Executor, _ *Plan) { e.Model = train.Model{} }, "compile the model"},
		"initial values": {func(e *Executor, _ *Plan) {
			e.Model.Initial = func(rand.Source) [][]float32 { return [][]float32{{1}} }
		}, `size of initial parameter "w" is 1`},
		"engine":  {func(e *Executor, _ *Plan) { e.Engine = nil }, "engine is <nil>"},
		"refusal": {func(e *Executor, _ *Plan) { e.Engine.(*fakeLab).refuse = func([]engine.Job) error { return wrong } }, "wrong"},
	}
	for name, tt := range tests {
		lab := &fakeLab{}
		e, plan := lab.executor(t), planWith(t, settings(Variant1, 3), 3)
		told := false
		e.Progress = func(PrivateProgress) { told = true }
		tt.change(&e, &plan)
		_, err := e.Run(background, plan)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, tt.want)
		}
		if lab.stepped != 0 || lab.open != 0 || told {
			t.Errorf("%s: %d steps, %d runs open, progress %v", name, lab.stepped, lab.open, told)
		}
	}
}

// A trial on an empty subset trains on noise alone, never on all samples.
func TestEmptySubset(t *testing.T) {
	s := settings(Variant2, 2)
	s.SubsetRate = 1e-9
	lab := &fakeLab{}
	plan := planWith(t, s, 2)
	if len(plan.Private.Subset) != 0 {
		t.Fatal("the subset isn't empty")
	}
	mustRun(t, lab.executor(t), plan)
	if members := lab.jobs[1].Members; members == nil || len(members) != 0 {
		t.Errorf("a trial played on %v", members)
	}
}

func TestSelectBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trials []outcome
		for _, score := range rapid.SliceOfN(rapid.SampledFrom([]float64{lowest, -1e308, 0, 0.5, 1}), 0, 6).Draw(t, "scores") {
			trials = append(trials, outcome{record: PrivateTrial{Score: score}})
		}
		best := selectBest(trials)
		if len(trials) == 0 {
			if best != none {
				t.Fatalf("%d won of no trials", best)
			}
			return
		}
		for i, other := range trials {
			if other.record.Score > trials[best].record.Score || other.record.Score == trials[best].record.Score && i < best {
				t.Fatalf("%d won, %d is better or equal and earlier", best, i)
			}
		}
	})
}
