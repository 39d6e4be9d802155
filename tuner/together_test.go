package tuner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

// mixed returns plans of every sort for 200 samples, by name in the order of names.
func mixed(t testing.TB) (plans []Plan, names []string) {
	for _, c := range []struct {
		name   string
		trials int
		change func(*Settings)
	}{
		{"variant 1", 4, func(*Settings) {}},
		{"no trial", 0, func(*Settings) {}},
		{"variant 2", 30, func(s *Settings) { s.Method = Variant2 }},
		{"baseline", 35, func(s *Settings) { s.Method = Baseline }},
		{"baseline, no trial", 0, func(s *Settings) { s.Method = Baseline }},
		{"adam", 3, func(s *Settings) { s.Optimizer = train.Adam(0) }},
		{"averaged baseline", 3, func(s *Settings) { s.Method, s.Optimizer = Baseline, everything() }},
		{"all settings", 3, func(s *Settings) { s.Optimizer = everything() }},
		{"some diverge", 5, func(s *Settings) { s.Space = LearningRates(grid(*s)[0], 1e60, 0.3) }},
		{"all diverge, baseline", 2, func(s *Settings) { s.Method, s.Space = Baseline, LearningRates(grid(*s)[0], 1e60) }},
		{"all diverge", 2, func(s *Settings) { s.Space = LearningRates(grid(*s)[0], 1e60) }},
		{"other noise, steps and subset", 3, func(s *Settings) {
			s.SubsetRate = 0.5
			s.Space = LearningRates(Candidate{SamplingRate: 0.3, Steps: 25, NoiseMultiplier: 1, ClippingNorm: 4}, 0.1, 0.5)
		}},
	} {
		s := settings(Variant1, max(0.5, float64(c.trials)))
		s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 12, NoiseMultiplier: 10, ClippingNorm: 1}, 0.01, 0.3, 3)
		c.change(&s)
		plans, names = append(plans, planWith(t, s, c.trials)), append(names, c.name)
	}
	return plans, names
}

// ending is the outcome of a plan, for comparisons.
type ending struct {
	result Result
	err    string
	kept   map[string]string
	events map[string]int // events that don't depend on the time, with their number
}

// witness returns work with the plan, and a function that returns the plan's ending afterwards.
func witness(plan Plan, store *shelf) (Work, func(Result, error) ending) {
	e := ending{events: map[string]int{}}
	w := Work{Plan: plan, Keeper: train.Keeper{Store: store, Every: time.Millisecond}, Progress: func(p PrivateProgress) {
		if p.Kind != Stepped {
			e.events[fmt.Sprint(p.Kind, p.Final, p.Trial, p.Trials, p.Steps, p.Score, p.Err)]++
		}
	}}
	return w, func(r Result, err error) ending {
		e.result, e.kept = timeless(r), timelessStore(store)
		if err != nil {
			e.err = err.Error()
		}
		return e
	}
}

// timelessStore returns a store's content without times: outcomes without seconds, and of traces the names alone.
func timelessStore(s *shelf) map[string]string {
	out := map[string]string{}
	for name, content := range s.kept {
		switch {
		case strings.HasPrefix(name, "trace-"):
			content = nil
		case name == "outcomes":
			_, metadata, err := safetensors.Decode(content[sha256.Size:])
			if err != nil {
				panic(err)
			}
			var all []map[string]any
			if err := json.Unmarshal([]byte(metadata["header"]), &all); err != nil {
				panic(err)
			}
			for _, o := range all {
				delete(o, "seconds")
			}
			content = fmt.Append(nil, all)
		}
		out[name] = string(content)
	}
	return out
}

func newShelf() *shelf { return &shelf{kept: map[string][]byte{}, left: -1} }

// errorOf returns the error of a plan.
func errorOf(err error, plan int) error {
	if failed, ok := err.(PlanErrors); ok {
		return failed[plan]
	}
	return err
}

// Plans of every kind that are carried out side by side, in groups that cross plans, end as they do alone: with the
// same release, private part without times, kept states and events.
func TestPlansSideBySideEndAsAlone(t *testing.T) {
	plans, names := mixed(t)
	executor := kept(t, nil, 200)
	var work []Work
	var want []ending
	var got []func(Result, error) ending
	for _, plan := range plans {
		w, end := witness(plan, newShelf())
		e := executor
		e.Keeper, e.Progress = w.Keeper, w.Progress
		want = append(want, end(e.Run(t.Context(), plan)))
		w, end = witness(plan, newShelf())
		work, got = append(work, w), append(got, end)
	}
	results, err := executor.RunAll(t.Context(), work...)
	if len(results) != len(work) {
		t.Fatal(err)
	}
	for i, name := range names {
		if end := got[i](results[i], errorOf(err, i)); !reflect.DeepEqual(end, want[i]) {
			t.Errorf("%s: %+v\nalone %+v", name, end, want[i])
		}
		if (want[i].err != "") != strings.HasPrefix(name, "all diverge") {
			t.Errorf("%s: error %q", name, want[i].err)
		}
	}
}

// The same holds for random plans on an engine that starts only small groups, and whose runs fail at random.
func TestRandomPlansSideBySide(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.SampledFrom([]int{1, 2, 5, 16, 64}).Draw(rt, "largest group")
		faulty := rapid.SampledFrom([]uint32{2, 5, 1000}).Draw(rt, "one run in so many fails, and one diverges")
		hash := func(j engine.Job) uint32 { return uint32(j.Key[0])<<8 + uint32(j.Key[1]) }
		lab := func(limit int) *fakeLab {
			return &fakeLab{
				refuse: func(jobs []engine.Job) error {
					if len(jobs) > limit {
						return errors.New("out of memory")
					}
					return nil
				},
				fail: func(j engine.Job) error {
					if hash(j)%faulty == 0 {
						return fmt.Errorf("its own fault, %x", j.Key)
					}
					return nil
				},
				diverge: func(j engine.Job) bool { return hash(j)%faulty == 1 },
			}
		}
		var work []Work
		var want []ending
		for range rapid.IntRange(0, 6).Draw(rt, "plans") {
			s := settings(rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(rt, "method"), rapid.SampledFrom([]float64{0.5, 3, 40}).Draw(rt, "mean"))
			plan, err := NewPlan(s, train.InsecureKey(rapid.Uint64().Draw(rt, "seed")))
			if err != nil {
				rt.Fatal(err)
			}
			work = append(work, Work{Plan: plan})
			r, err := lab(64).executor(t).Run(background, plan)
			end := ending{result: timeless(r)}
			if err != nil {
				end.err = err.Error()
			}
			want = append(want, end)
		}
		together := lab(limit)
		results, err := together.executor(t).RunAll(background, work...)
		if len(results) != len(work) || together.open != 0 || together.loads > 1 {
			rt.Fatalf("%d results of %d plans, %d groups open, %d loads: %v", len(results), len(work), together.open, together.loads, err)
		}
		for i, end := range want {
			own := errorOf(err, i)
			if own != nil && own.Error() != end.err || own == nil && end.err != "" || !reflect.DeepEqual(timeless(results[i]), end.result) {
				rt.Fatalf("plan %d: %+v, %v\nalone %+v", i, results[i], own, end)
			}
		}
		if failed := slices.ContainsFunc(want, func(e ending) bool { return e.err != "" }); failed != (err != nil) {
			rt.Fatalf("error %v", err)
		}
	})
}

// Groups have trials of several plans, at most 64, then all final runs; one model is loaded, once.
func TestGroupsCrossPlans(t *testing.T) {
	lab := &fakeLab{}
	var work []Work
	for i, trials := range []int{40, 40, 0, 3} {
		s := settings([]Method{Variant1, Variant2, Variant1, Baseline}[i], max(0.5, float64(trials)))
		work = append(work, Work{Plan: planWith(t, s, trials)})
	}
	if _, err := lab.executor(t).RunAll(background, work...); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 1, 1, 64, 19, 3}; !slices.Equal(lab.groups, want) || lab.loads != 1 || lab.open != 0 {
		t.Errorf("%d loads, groups of %v, want four checks, 83 trials and three final runs; %d open", lab.loads, lab.groups, lab.open)
	}
	lab = &fakeLab{}
	var many []Work
	for i := range 70 {
		many = append(many, Work{Plan: mustPlan(t, settings(Variant1, 1e-9), uint64(i)+1)})
	}
	if _, err := lab.executor(t).RunAll(background, many...); err != nil {
		t.Fatal(err)
	}
	if want := []int{64, 6}; !slices.Equal(lab.groups[70:], want) {
		t.Errorf("70 final runs in groups of %v", lab.groups[70:])
	}
}

// A group that the engine refuses is halved until it starts, so that one run that can't start costs few groups.
func TestARefusedGroupIsHalved(t *testing.T) {
	lab := &fakeLab{refuse: func(jobs []engine.Job) error {
		if len(jobs) > 20 {
			return errors.New("out of memory")
		}
		return nil
	}}
	work := []Work{{Plan: planWith(t, settings(Variant1, 40), 40)}, {Plan: planWith(t, settings(Variant2, 24), 24)}}
	if _, err := lab.executor(t).RunAll(background, work...); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 16, 16, 16, 16, 2}; !slices.Equal(lab.groups, want) {
		t.Errorf("groups of %v, want %v", lab.groups, want)
	}
}

// norms returns plans that an engine can tell apart by their clipping norms 1, 2, ….
func norms(t testing.TB, methods ...Method) (work []Work) {
	for i, m := range methods {
		s := settings(m, 4)
		for k := range grid(s) {
			grid(s)[k].ClippingNorm = float64(i + 1)
		}
		work = append(work, Work{Plan: planWith(t, s, 4)})
	}
	return work
}

// If a plan's trials or final run fail, the other plans still have results.
func TestAPlanThatFailsLeavesTheOthers(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		fails func(engine.Job) bool
		want  string
	}{
		"trials":    {func(j engine.Job) bool { return j.Trial != finalStream }, "every trial failed; the first: "},
		"final run": {func(j engine.Job) bool { return j.Trial == finalStream }, "final run: "},
	} {
		lab := &fakeLab{fail: func(j engine.Job) error {
			if j.Mechanism.ClippingNorm == 2 && c.fails(j) {
				return broken
			}
			return nil
		}}
		work := norms(t, Variant1, Variant2, Baseline)
		results, err := lab.executor(t).RunAll(background, work...)
		failed, ok := err.(PlanErrors)
		if !ok || len(failed) != 3 || failed[0] != nil || failed[2] != nil || !errors.Is(failed[1], broken) || !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "plan 1: "+c.want) {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(results[1], Result{}) {
			t.Errorf("%s: %+v of a plan that failed", name, results[1])
		}
		for _, i := range []int{0, 2} {
			if want := mustRun(t, (&fakeLab{}).executor(t), work[i].Plan); !reflect.DeepEqual(timeless(results[i]), timeless(want)) {
				t.Errorf("%s: plan %d: %+v, want %+v", name, i, results[i], want)
			}
		}
	}
}

// A wrong plan fails alone, before it trains. A wrong executor is no plan's fault.
func TestAWrongPlanIsItsOwn(t *testing.T) {
	lab := &fakeLab{}
	work := norms(t, Variant1, Variant1, Variant2, Variant2)
	work[1].Plan.Private.Rest = nil
	work[3].Plan.Settings.Samples++
	foreign := newShelf()
	foreign.kept["fingerprint"] = []byte(`{"plan":"another"}`)
	work = append(work, norms(t, Baseline)[0])
	work[4].Keeper.Store = foreign
	results, err := lab.executor(t).RunAll(background, work...)
	failed, ok := err.(PlanErrors)
	if !ok || failed[0] != nil || failed[1] == nil || failed[2] != nil || failed[3] == nil || !errors.Is(failed[4], train.ErrOtherRun) {
		t.Fatal(err)
	}
	if lab.stepped != 2*5*10 || results[0].Released.Parameters == nil || results[2].Released.Parameters == nil {
		t.Errorf("%d steps, want those of two plans; %+v", lab.stepped, results)
	}
	lab = &fakeLab{}
	x := lab.executor(t)
	x.Test = nil
	if results, err := x.RunAll(background, work...); results != nil || err == nil || errorOf(err, 0) != err || lab.open != 0 {
		t.Errorf("no test set: %v, %v", results, err)
	}
	x.Data = nil
	if _, err := x.RunAll(background, work...); err == nil || errorOf(err, 0) != err {
		t.Errorf("no data: %v", err)
	}
	lab = &fakeLab{}
	if results, err := lab.executor(t).RunAll(background, work[1]); len(results) != 1 || err == nil || lab.loads != 0 {
		t.Errorf("one wrong plan: %v, %v, %d loads", results, err, lab.loads)
	}
	if results, err := lab.executor(t).RunAll(background); len(results) != 0 || err != nil {
		t.Errorf("no plans: %v, %v", results, err)
	}
}

// A lost device and a cancelled context stop all plans, and are no plan's fault.
func TestWhatStopsAllPlans(t *testing.T) {
	lost := fmt.Errorf("some GPU: %w", engine.ErrLost)
	gone := fakeLab{refuse: func([]engine.Job) error { return lost }}
	if results, err := gone.executor(t).RunAll(background, norms(t, Baseline, Variant1)...); results != nil || err == nil || errorOf(err, 0) != err || !errors.Is(err, lost) {
		t.Errorf("lost before the first step: %v, %v", results, err)
	}
	for _, trial := range []uint32{2, finalStream} {
		var cancel context.CancelFunc
		for name, c := range map[string]struct {
			lab  fakeLab
			want error
		}{
			"lost": {fakeLab{fail: func(j engine.Job) error {
				if j.Mechanism.ClippingNorm == 2 && j.Trial == trial {
					return lost
				}
				return nil
			}}, lost},
			"cancelled": {fakeLab{after: func(j engine.Job, step int) {
				if j.Mechanism.ClippingNorm == 2 && j.Trial == trial && step == 5 {
					cancel()
				}
			}}, context.Canceled},
		} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(background)
			results, err := c.lab.executor(t).RunAll(ctx, norms(t, Baseline, Variant1, Variant2)...)
			cancel()
			if _, some := err.(PlanErrors); results != nil || some || !errors.Is(err, c.want) || c.lab.open != 0 {
				t.Errorf("%s in run %d: %v, %v, %d open", name, trial, results, err, c.lab.open)
			}
		}
	}
}

// A state that can't be saved stops all plans. The error names the plan, the states of the others are saved, and all go
// on afterwards.
func TestAStoreThatFailsStopsAllPlans(t *testing.T) {
	plans, names := mixed(t)
	executor := kept(t, nil, 200)
	for _, c := range []struct {
		name  string
		plan  string
		state string // another plan's, which is saved
	}{
		{"state-3", "baseline", "state-1"}, {"outcomes", "variant 2", "state-0"}, {"state-0", "adam", "state-0"},
	} {
		culprit := slices.Index(names, c.plan)
		var work []Work
		stores := make([]train.Store, len(plans))
		for i, plan := range plans {
			store := &forgetful{shelf{kept: map[string][]byte{}, left: -1}, ""}
			if i == culprit {
				store.name = c.name
			}
			stores[i] = store
			work = append(work, Work{Plan: plan, Keeper: train.Keeper{Store: store, Every: time.Hour}})
		}
		results, err := executor.RunAll(t.Context(), work...)
		var named *PlanError
		if !errors.As(err, &named) || named.Plan != culprit || !errors.Is(err, errDead) || results != nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("plan %d: ", culprit)) {
			t.Fatalf("%s of %s isn't saved: %v", c.name, c.plan, err)
		}
		if c.name != "outcomes" && stores[0].(*forgetful).kept[c.state] == nil {
			t.Errorf("%s of %s isn't saved, and then no state of another plan: %q", c.name, c.plan, slices.Sorted(maps.Keys(stores[0].(*forgetful).kept)))
		}
		alone := executor
		alone.Keeper.Store = &forgetful{shelf{kept: map[string][]byte{}, left: -1}, c.name}
		if _, err := alone.Run(t.Context(), plans[culprit]); !errors.Is(err, errDead) || errors.As(err, &named) {
			t.Errorf("alone: %v", err)
		}
		results, err = executor.RunAll(t.Context(), work...)
		for i, plan := range plans {
			want, alone := executor.Run(t.Context(), plan)
			if fmt.Sprint(errorOf(err, i)) != fmt.Sprint(alone) && alone != nil || !reflect.DeepEqual(timeless(results[i]), timeless(want)) {
				t.Errorf("%s wasn't saved once, %s: %+v, want %+v", c.name, names[i], results[i], want)
			}
		}
	}
}

// A damaged store fails its own plan, before any other plan trains.
func TestADamagedStoreIsItsPlans(t *testing.T) {
	work := norms(t, Variant1, Variant2)
	whole := newShelf()
	mustRun(t, kept(t, whole, 200), work[1].Plan)
	executor := kept(t, nil, 200)
	for _, name := range []string{"fingerprint", "outcomes", "state-0"} {
		store := newShelf()
		store.kept = maps.Clone(whole.kept)
		store.kept[name] = store.kept[name][:len(store.kept[name])/2]
		work[1].Keeper.Store = store
		steps := 0
		work[1].Progress = func(PrivateProgress) { steps++ }
		results, err := executor.RunAll(t.Context(), work...)
		if failed, ok := err.(PlanErrors); !ok || failed[0] != nil || !errors.Is(failed[1], train.ErrState) || steps > 0 {
			t.Errorf("half of %s: %v; %d events", name, err, steps)
		} else if want := mustRun(t, executor, work[0].Plan); !reflect.DeepEqual(timeless(results[0]), timeless(want)) {
			t.Errorf("half of %s: the other plan: %+v, want %+v", name, results[0], want)
		}
	}
}

// However often the process dies, and whichever plans go on together afterwards, each ends as it does alone. So do
// plans whose trials have ended, beside plans whose trials haven't.
func TestPlansGoOnInAnyCompany(t *testing.T) {
	long.SkipRace(t, "it dies and goes on many times")
	plans, names := mixed(t)
	executor := kept(t, nil, 200)
	var want []Result
	var errs []error
	winners := 0 // other than the first trial, which might be kept by mistake
	for _, plan := range plans {
		r, err := executor.Run(t.Context(), plan)
		want, errs = append(want, timeless(r)), append(errs, err)
		if r.Private.Best > 0 {
			winners++
		}
	}
	if winners < 2 {
		t.Errorf("of %d winners all but %d are first trials: the test shows little", len(plans), winners)
	}
	draw := rand.New(rand.NewPCG(5, 6))
	mixtures := 0 // of plans in their final run and others
	for range 8 {
		stores := make([]*shelf, len(plans))
		for i := range stores {
			stores[i] = newShelf()
			stores[i].draw = draw
		}
		ended, deaths := make([]bool, len(plans)), 0
		for slices.Contains(ended, false) {
			var work []Work
			var members []int
			tuned, untuned := false, false
			for _, i := range draw.Perm(len(plans)) {
				if ended[i] || draw.IntN(4) == 0 {
					continue
				}
				stores[i].left = 1 + draw.IntN(64<<min(deaths/4, 8)) // longer and longer lives
				members = append(members, i)
				work = append(work, Work{Plan: plans[i], Keeper: train.Keeper{Store: stores[i], Every: time.Millisecond}})
				if stores[i].kept["outcomes"] != nil {
					tuned = true
				} else if len(plans[i].Private.Trials) > 0 {
					untuned = true
				}
			}
			if tuned && untuned {
				mixtures++
			}
			ctx, cancel := context.WithCancel(t.Context())
			if draw.IntN(3) == 0 {
				time.AfterFunc(time.Duration(draw.IntN(5000))*time.Microsecond, cancel)
			}
			results, err := executor.RunAll(ctx, work...)
			cancel()
			if deaths++; deaths > 300 {
				t.Fatal("it doesn't end")
			}
			if results == nil && !errors.Is(err, errDead) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			for k := range results {
				own := errorOf(err, k)
				if errors.Is(own, errDead) { // at its check
					continue
				}
				i := members[k]
				ended[i] = true
				if fmt.Sprint(own) != fmt.Sprint(errs[i]) || !reflect.DeepEqual(timeless(results[k]), want[i]) {
					t.Fatalf("%s: %+v, %v, want %+v, %v", names[i], results[k], own, want[i], errs[i])
				}
			}
		}
	}
	if mixtures < 8 {
		t.Errorf("%d times plans with outcomes were beside plans without: the test shows little", mixtures)
	}
}
