package tuner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

// workers carries out trials by an executor, in several calls, and delivers them in random order.
type workers struct {
	Executor
	seed  uint64
	asked [][]int                                       // the trials of each Run
	alter func(*PrivateOutcome) (again *PrivateOutcome) // changes an outcome; its result is delivered next
	die   int                                           // after this many outcomes Run returns an error; 0 means never
	late  func(PrivateOutcome) error                    // done of the last Run
	mu    sync.Mutex
}

func (w *workers) Run(ctx context.Context, plan Plan, trials []int, done func(PrivateOutcome) error) error {
	w.mu.Lock() // several plans may share the engine, which isn't safe for that here
	defer w.mu.Unlock()
	w.asked, w.late = append(w.asked, slices.Clone(trials)), done
	draw := rand.New(rand.NewPCG(w.seed, uint64(len(w.asked))))
	draw.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	delivered := 0
	for len(trials) > 0 {
		n := 1 + draw.IntN(len(trials))
		outcomes, err := w.RunTrials(ctx, plan, trials[:n])
		if err != nil {
			return err
		}
		trials = trials[n:]
		for _, o := range outcomes {
			var again *PrivateOutcome
			if w.alter != nil {
				again = w.alter(&o)
			}
			if err := done(o); err != nil {
				return err
			}
			if again != nil {
				if err := done(*again); err != nil {
					return err
				}
			}
			if delivered++; delivered == w.die {
				return errDead
			}
		}
	}
	return nil
}

// away returns work whose trials a fake engine carries out elsewhere.
func away(t testing.TB, plan Plan, l *fakeLab, seed uint64) (Work, *workers) {
	w := &workers{Executor: l.executor(t), seed: seed}
	return Work{Plan: plan, Trials: w}, w
}

// ended returns the ending of a plan alone, without times and without the error's text.
func ended(results []Result, err error) ending {
	e := ending{}
	if len(results) > 0 {
		e.result = timeless(results[0])
	}
	if err = errorOf(err, 0); err != nil {
		e.err = err.Error()
	}
	return e
}

// For any trials and any order of their outcomes, a plan whose trials were carried out elsewhere ends as it does here,
// with the same events. The engine here trains only the final run.
func TestTrialsElsewhereEndAsHere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := settings(rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(rt, "method"), rapid.SampledFrom([]float64{0.5, 3, 20}).Draw(rt, "mean"))
		plan, err := NewPlan(s, train.InsecureKey(rapid.Uint64().Draw(rt, "seed")))
		if err != nil {
			rt.Fatal(err)
		}
		bad := rapid.SampledFrom([]uint32{1, 2, 5, 1000}).Draw(rt, "of so many trials one fails, and one diverges")
		scores := rapid.IntRange(1, 4).Draw(rt, "different scores")
		lab := func() *fakeLab {
			return &fakeLab{
				accuracy: func(j engine.Job) float64 { return float64(int(j.Trial*7)%scores) / 4 },
				fail: func(j engine.Job) error {
					if j.Trial%bad == 1%bad {
						return fmt.Errorf("trial of stream %d is broken", j.Trial)
					}
					return nil
				},
				diverge: func(j engine.Job) bool { return j.Trial != finalStream && j.Trial%bad == 2%bad },
			}
		}
		var want ending
		events := func(e map[string]int) func(PrivateProgress) {
			return func(p PrivateProgress) {
				if p.Kind != Stepped {
					e[fmt.Sprint(p.Kind, p.Final, p.Trial, p.Trials, p.Steps, p.Score, p.Err)]++
				}
			}
		}
		local, remote := map[string]int{}, map[string]int{}
		want = ended(lab().executor(t).RunAll(background, Work{Plan: plan, Progress: events(local)}))
		here := lab()
		w, there := away(t, plan, lab(), rapid.Uint64().Draw(rt, "order"))
		w.Progress = events(remote)
		got := ended(here.executor(t).RunAll(background, w))
		if !reflect.DeepEqual(got, want) || !maps.Equal(local, remote) {
			rt.Fatalf("elsewhere %+v, %v\nhere %+v, %v", got, remote, want, local)
		}
		for stream := range here.jobs {
			if stream != finalStream {
				rt.Fatalf("the trial of stream %d was trained here", stream)
			}
		}
		if len(there.asked) != min(1, len(plan.Private.Trials)) || here.open != 0 {
			rt.Fatalf("asked %d times for %d trials, %d open", len(there.asked), len(plan.Private.Trials), here.open)
		}
	})
}

// Outcomes are in the order asked for. They have models only where the plan needs them, and a worker trains nothing
// else.
func TestRunTrials(t *testing.T) {
	for _, m := range []Method{Baseline, Variant1, Variant2} {
		lab := &fakeLab{
			diverge: func(j engine.Job) bool { return j.Trial == 2 },
			fail: func(j engine.Job) error {
				if j.Trial == 3 {
					return errors.New("bro\xffken")
				}
				return nil
			},
		}
		s := settings(m, 5)
		var last PrivateProgress
		e := lab.executor(t)
		e.Progress = func(p PrivateProgress) { last = p }
		e.Keeper.Store = newShelf()
		out, err := e.RunTrials(background, planWith(t, s, 5), []int{4, 1, 2})
		if err != nil || len(out) != 3 || lab.open != 0 || len(e.Keeper.Store.(*shelf).saved) > 0 {
			t.Fatalf("%+v, %v, %d open", out, err, lab.open)
		}
		if o := out[0]; o.Trial != 4 || (o.Parameters != nil) != (m == Baseline) || o.Score < 0 || o.Diverged || o.Failure != "" {
			t.Errorf("%s: %+v", m, o)
		}
		if o := out[1]; o.Trial != 1 || o.Parameters != nil || o.Score != lowest || !o.Diverged {
			t.Errorf("%s: diverged %+v", m, o)
		}
		if o := out[2]; o.Trial != 2 || o.Parameters != nil || o.Score != lowest || o.Failure != "bro?ken" {
			t.Errorf("%s: failed %+v", m, o)
		}
		if last.Done != last.Total || last.TrialsDone != 3 || last.Trials != 5 || lab.jobs[1].Initial != nil {
			t.Errorf("%s: ended with %+v", m, last)
		}
	}
}

// Wrong numbers, plans, data and failing devices are errors, without outcomes.
func TestRunTrialsChecks(t *testing.T) {
	plan := planWith(t, settings(Baseline, 3), 3)
	cancelled, cancel := context.WithCancel(background)
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		trials []int
		change func(*Executor, *Plan)
		want   string
	}{
		"beyond":     {background, []int{3}, nil, "number of a trial is 3"},
		"negative":   {background, []int{-1}, nil, "number of a trial is -1"},
		"twice":      {background, []int{1, 1}, nil, "each number once"},
		"cancelled":  {cancelled, []int{1}, nil, "canceled"},
		"other plan": {background, []int{1}, func(_ *Executor, p *Plan) { p.Private.Trials = p.Private.Trials[:2] }, otherPlan},
		"other data": {background, []int{1}, func(e *Executor, _ *Plan) { e.Data = labelled(t, 199, 1).Data }, "number of samples is 200"},
		"no data":    {background, []int{1}, func(e *Executor, _ *Plan) { e.Data = nil }, "data"},
		"no test":    {background, []int{1}, func(e *Executor, _ *Plan) { e.Test = nil }, "test set"},
		"lost": {background, []int{1}, func(e *Executor, _ *Plan) {
			e.Engine.(*fakeLab).fail = func(engine.Job) error { return engine.ErrLost }
		}, engine.ErrLost.Error()},
	} {
		e, p := (&fakeLab{}).executor(t), plan
		if c.change != nil {
			c.change(&e, &p)
		}
		if out, err := e.RunTrials(c.ctx, p, c.trials); out != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %s", name, out, err, c.want)
		}
	}
	if out, err := (&fakeLab{}).executor(t).RunTrials(background, plan, nil); out != nil || err != nil {
		t.Errorf("no trials: %v, %v", out, err)
	}
}

// However often the process dies at an operation of its store, the plan goes on with the kept outcomes, asks only for
// missing trials, and ends as it does here. The same holds if some of its trials are carried out here in between.
func TestATuningElsewhereThatDiesGoesOn(t *testing.T) {
	for _, m := range []Method{Baseline, Variant1} {
		s := settings(m, 6)
		s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 4, NoiseMultiplier: 40, ClippingNorm: 1}, 0.01, 0.3, 3)
		plan := planWith(t, s, 6)
		e := kept(t, nil, 200)
		want := timeless(mustRun(t, e, plan))
		draw := rand.New(rand.NewPCG(7, uint64(len(m))))
		for _, mixed := range []bool{false, true} {
			for life := 1; life <= 24; life++ {
				store := newShelf()
				store.draw = draw
				for deaths := 0; ; deaths++ {
					store.left = life + deaths
					there := &workers{Executor: e, seed: draw.Uint64()}
					w := Work{Plan: plan, Keeper: train.Keeper{Store: store}, Trials: there}
					if mixed && draw.IntN(2) == 0 {
						w.Trials = nil
					} else if draw.IntN(3) == 0 {
						there.die = 1 + draw.IntN(4)
					}
					before := keptTrials(t, store, plan)
					results, err := e.RunAll(t.Context(), w)
					for _, asked := range there.asked {
						for _, i := range asked {
							if before[i] {
								t.Fatalf("%s, life %d: asked for trial %d, which was kept", m, life, i)
							}
						}
					}
					if err == nil {
						if !reflect.DeepEqual(timeless(results[0]), want) {
							t.Fatalf("%s, life %d, %d deaths: %+v, want %+v", m, life, deaths, results[0], want)
						}
						if n := slices.Collect(maps.Keys(store.kept)); !mixed && slices.ContainsFunc(n, func(name string) bool { return strings.HasPrefix(name, "state-") && name != "state-0" }) {
							t.Fatalf("%s: kept %q", m, n)
						}
						store.left, store.saved = -1, nil
						if again, err := e.RunAll(t.Context(), w); err != nil || !reflect.DeepEqual(timeless(again[0]), want) || len(store.saved) > 0 {
							t.Fatalf("%s: once more: %v, %v, saved %q", m, again, err, store.saved)
						}
						break
					}
					if !errors.Is(err, errDead) || deaths > 40 {
						t.Fatalf("%s, life %d, death %d: %v", m, life, deaths, err)
					}
				}
			}
		}
	}
}

// An outcome that done accepts is kept, whichever operation of the store fails.
func TestAcceptedOutcomesAreKept(t *testing.T) {
	plan := planWith(t, settings(Baseline, 4), 4)
	e := kept(t, nil, 200)
	for left := range 20 {
		store := newShelf()
		store.draw, store.left = rand.New(rand.NewPCG(1, 2)), left
		there := careful{&workers{Executor: e, seed: 3}, func(i int) {
			if !keptTrials(t, store, plan)[i] {
				t.Errorf("%d operations: trial %d is accepted, and not kept", left, i)
			}
		}}
		if _, err := e.RunAll(t.Context(), Work{Plan: plan, Keeper: train.Keeper{Store: store}, Trials: there}); err != nil && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
	}
}

// careful checks each outcome that was accepted.
type careful struct {
	*workers
	accepted func(trial int)
}

func (c careful) Run(ctx context.Context, plan Plan, trials []int, done func(PrivateOutcome) error) error {
	return c.workers.Run(ctx, plan, trials, func(o PrivateOutcome) error {
		err := done(o)
		if err == nil {
			c.accepted(o.Trial)
		}
		return err
	})
}

// An outcome from elsewhere removes the state of its own trial, which began here, and the state of the best trial
// before it. It keeps the state of a trial that is still the best.
func TestStatesOfTrialsHereAreForgotten(t *testing.T) {
	plan := planWith(t, settings(Baseline, 3), 3)
	store := newShelf()
	for _, name := range []string{"state-1", "trace-1", "state-2", "state-3"} {
		store.kept[name] = []byte("private")
	}
	x := &execution{plan: plan, keeper: train.Keeper{Store: store}, stored: none, outcomes: []outcome{
		{record: PrivateTrial{Score: 0.5}}, {missing: true}, {missing: true},
	}}
	for _, c := range []struct {
		trial int
		score float64
		want  []string
	}{{1, 0.25, []string{"outcomes", "state-1", "state-3", "trace-1"}}, {2, 0.75, []string{"model", "outcomes"}}} {
		before := selectBest(x.outcomes)
		x.put(c.trial, outcome{record: PrivateTrial{Score: c.score}, model: []train.Parameter{{Shape: []int{2}, Values: []float32{1, 2}}}})
		if err := x.keepOne(c.trial, before); err != nil {
			t.Fatal(err)
		}
		if names := slices.Sorted(maps.Keys(store.kept)); !slices.Equal(names, c.want) {
			t.Errorf("after trial %d: %q, want %q", c.trial, names, c.want)
		}
	}
	// A better trial that ended here needs no kept model: its state has it.
	x.put(0, outcome{record: PrivateTrial{Score: 1}})
	if err := x.keep(); err != nil || store.kept["model"] != nil {
		t.Errorf("%v, kept %q", err, slices.Sorted(maps.Keys(store.kept)))
	}
}

// keptTrials returns the trials whose outcomes a store has.
func keptTrials(t testing.TB, store *shelf, plan Plan) map[int]bool {
	kept, err := (&execution{plan: plan, keeper: train.Keeper{Store: store}}).load(outcomesName)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]bool{}
	for _, o := range kept {
		out[o.Trial] = true
	}
	return out
}

// A kept model that is damaged, or of another plan, is an error before anything is trained.
func TestADamagedModelStopsTheTuning(t *testing.T) {
	e := kept(t, nil, 200)
	storeOf := func(seed uint64) (*shelf, Work) {
		store, plan := newShelf(), mustPlan(t, settings(Baseline, 6), seed)
		w := Work{Plan: plan, Keeper: train.Keeper{Store: store}, Trials: &workers{Executor: e}}
		if _, err := e.RunAll(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		return store, w
	}
	whole, w := storeOf(1)
	other, _ := storeOf(2)
	model := whole.kept["model"]
	flipped := slices.Clone(model)
	flipped[len(flipped)-1] ^= 1
	for name, content := range map[string][]byte{
		"nothing": {}, "half": model[:len(model)/2], "a byte less": model[:len(model)-1], "a bit": flipped, "another plan's": other.kept["model"],
	} {
		store := newShelf()
		store.kept = maps.Clone(whole.kept)
		store.kept["model"] = content
		w.Keeper.Store = store
		if _, err := e.RunAll(t.Context(), w); !errors.Is(err, train.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Plans whose trials are carried out elsewhere and here end as they do alone, and no two functions of plans are called
// at the same time.
func TestPlansHereAndElsewhere(t *testing.T) {
	var work []Work
	var inside atomic.Int32
	for i, m := range []Method{Baseline, Variant1, Variant2, Baseline} {
		s := settings(m, 5)
		w := Work{Plan: planWith(t, s, 5), Progress: func(PrivateProgress) {
			if inside.Add(1) != 1 {
				t.Error("two functions at the same time")
			}
			time.Sleep(50 * time.Microsecond) // so that other calls would overlap
			inside.Add(-1)
		}}
		if i != 1 {
			w.Trials = &workers{Executor: (&fakeLab{}).executor(t), seed: uint64(i)}
		}
		work = append(work, w)
	}
	lab := &fakeLab{}
	results, err := lab.executor(t).RunAll(background, work...)
	if err != nil || lab.open != 0 {
		t.Fatal(err)
	}
	for i, w := range work {
		if want := mustRun(t, (&fakeLab{}).executor(t), w.Plan); !reflect.DeepEqual(timeless(results[i]), timeless(want)) {
			t.Errorf("plan %d: %+v, want %+v", i, results[i], want)
		}
	}
	// An error that stops trials elsewhere stops the trials here, and vice versa.
	work[2].Trials = &workers{Executor: (&fakeLab{}).executor(t), die: 1}
	results, err = (&fakeLab{}).executor(t).RunAll(background, work...)
	var stopped *PlanError
	if results != nil || !errors.As(err, &stopped) || stopped.Plan != 2 || !errors.Is(err, errDead) {
		t.Errorf("%v, %v", results, err)
	}
	work = []Work{work[0], work[1]}
	work[0].Trials = waiting{}
	lost := &fakeLab{fail: func(engine.Job) error { return engine.ErrLost }}
	if _, err := lost.executor(t).RunAll(background, work...); !errors.Is(err, engine.ErrLost) || errors.As(err, &stopped) && stopped.Plan == 0 && !errors.Is(err, engine.ErrLost) {
		t.Errorf("lost here: %v", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancelling := &fakeLab{after: func(engine.Job, int) { cancel() }}
	if _, err := cancelling.executor(t).RunAll(ctx, work...); !errors.Is(err, context.Canceled) || errors.As(err, new(*PlanError)) {
		t.Errorf("cancelled: %v", err)
	}
}

// waiting waits until it is stopped.
type waiting struct{}

func (waiting) Run(ctx context.Context, _ Plan, _ []int, _ func(PrivateOutcome) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// Nothing is released once the context is cancelled, though all outcomes are there.
func TestCancelledAfterTheLastOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	plan := planWith(t, settings(Baseline, 3), 3)
	w, _ := away(t, plan, &fakeLab{}, 1)
	finished := 0
	w.Progress = func(p PrivateProgress) {
		if p.Kind == Finished {
			if finished++; finished == 3 {
				cancel()
			}
		}
	}
	if results, err := (&fakeLab{}).executor(t).RunAll(ctx, w); results != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", results, err)
	}
}

// If the process dies before it removes the kept model of a former best trial, that model isn't released.
func TestAStaleModelIsNotReleased(t *testing.T) {
	e, plan := kept(t, nil, 200), planWith(t, settings(Baseline, 5), 5)
	here, elsewhere := newShelf(), newShelf()
	want, err := e.RunAll(t.Context(), Work{Plan: plan, Keeper: train.Keeper{Store: here}})
	if err != nil {
		t.Fatal(err)
	}
	one := single{&workers{Executor: e}, (want[0].Private.Best + 1) % 5}
	if _, err := e.RunAll(t.Context(), Work{Plan: plan, Keeper: train.Keeper{Store: elsewhere}, Trials: one}); err == nil || elsewhere.kept["model"] == nil {
		t.Fatal(err)
	}
	here.kept["model"] = elsewhere.kept["model"]
	got, err := e.RunAll(t.Context(), Work{Plan: plan, Keeper: train.Keeper{Store: here}})
	if err != nil || !reflect.DeepEqual(got[0].Released, want[0].Released) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// single carries out one trial alone.
type single struct {
	*workers
	trial int
}

func (s single) Run(ctx context.Context, plan Plan, _ []int, done func(PrivateOutcome) error) error {
	return s.workers.Run(ctx, plan, []int{s.trial}, done)
}

// The text of a failure is cut between characters: another process would refuse half a one.
func TestLongFailuresAreText(t *testing.T) {
	text := failureOf(errors.New("x" + strings.Repeat("é", maxFailure)))
	if len(text) != maxFailure-1 || !utf8.ValidString(text) {
		t.Errorf("%d bytes that end in %q", len(text), text[len(text)-2:])
	}
}
