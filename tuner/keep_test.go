package tuner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
)

// shelf is a store in memory. After some operations the process "dies": with half a chance the last operation is done,
// and all after it fail.
type shelf struct {
	kept  map[string][]byte
	left  int // operations until death; negative for a long life
	draw  *rand.Rand
	saved []string // names, in order; after a "-" those that were removed
}

var errDead = errors.New("dead")

func (s *shelf) die() (dead, done bool) {
	if s.left == 0 {
		return true, false
	}
	if s.left--; s.left == 0 {
		return true, s.draw.IntN(2) == 0
	}
	return false, true
}

func (s *shelf) Save(name string, content []byte) error {
	dead, done := s.die()
	if done {
		s.kept[name] = bytes.Clone(content)
		s.saved = append(s.saved, name)
	}
	if dead {
		return errDead
	}
	return nil
}

func (s *shelf) Load(name string) ([]byte, error) { return bytes.Clone(s.kept[name]), nil }

func (s *shelf) Remove(name string) error {
	dead, done := s.die()
	if done {
		delete(s.kept, name)
		s.saved = append(s.saved, "-"+name)
	}
	if dead {
		return errDead
	}
	return nil
}

// kept returns an executor on two cores that keeps all it can.
func kept(t testing.TB, store train.Store, n int) Executor {
	return Executor{
		Engine: cpu.New(cpu.Options{Workers: 2}),
		Model:  linear(),
		Data:   labelled(t, n, 1).Data,
		Test:   labelled(t, 300, 2),
		Keeper: train.Keeper{Store: store, Every: time.Microsecond},
	}
}

// everything is an optimizer with all settings.
func everything() train.Optimizer {
	o := train.Nesterov(0, 0.5)
	o.WeightDecay, o.Schedule, o.Accumulate, o.Average = 0.01, train.Warmup(0.2, train.Cosine(0)), 3, 0.5
	return o
}

// However often and wherever a tuning dies or is interrupted, it ends in what it releases uninterrupted, and no step
// that was saved is taken again under other settings.
func TestATuningThatDiesGoesOn(t *testing.T) {
	long.SkipRace(t, "it dies and goes on many times")
	for _, c := range []struct {
		name   string
		trials int
		change func(*Settings)
	}{
		{"variant 1", 4, func(s *Settings) {}},
		{"variant 2, warm", 3, func(s *Settings) { s.Method, s.WarmStart = Variant2, true }},
		{"baseline", 5, func(s *Settings) { s.Method = Baseline }},
		{"several groups", 67, func(s *Settings) { s.Method, s.WarmStart = Variant2, true }},
		{"adam", 3, func(s *Settings) { s.Optimizer = train.Adam(0) }},
		{"all settings", 3, func(s *Settings) { s.Optimizer = everything() }},
		{"averaged baseline", 3, func(s *Settings) { s.Method, s.Optimizer = Baseline, everything() }},
		{"some diverge", 4, func(s *Settings) { s.Space = LearningRates(grid(*s)[0], 1e60, 0.3) }},
		{"no trial", 0, func(s *Settings) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(Variant1, max(0.5, float64(c.trials)))
			s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 12, NoiseMultiplier: 40, ClippingNorm: 1}, 0.01, 0.3, 3)
			c.change(&s)
			plan := planWith(t, s, c.trials)
			want := timeless(mustRun(t, kept(t, nil, s.Samples), plan))
			// Another trial than the first has to win, or else it could be kept in the winner's place.
			for seed := uint64(0); c.trials > 1 && want.Private.Best < 1; seed++ {
				if plan = mustPlan(t, s, seed); len(plan.Private.Trials) == c.trials {
					want = timeless(mustRun(t, kept(t, nil, s.Samples), plan))
				}
			}
			draw := rand.New(rand.NewPCG(uint64(len(c.name)), 1))
			for range 6 {
				store := &shelf{kept: map[string][]byte{}, draw: draw}
				deaths := 0
				for {
					store.left = 1 + draw.IntN(8<<min(deaths, 8)) // longer and longer lives
					ctx, cancel := context.WithCancel(t.Context())
					if draw.IntN(3) == 0 {
						time.AfterFunc(time.Duration(draw.IntN(2000))*time.Microsecond, cancel)
					}
					result, err := kept(t, store, s.Samples).Run(ctx, plan)
					cancel()
					if err == nil {
						if got := timeless(result); !reflect.DeepEqual(got.Released, want.Released) || !reflect.DeepEqual(got.Private, want.Private) {
							t.Fatalf("after %d deaths: %+v, want %+v", deaths, got, want)
						}
						break
					}
					if deaths++; deaths > 100 || !errors.Is(err, errDead) && !errors.Is(err, context.Canceled) {
						t.Fatalf("death %d: %v", deaths, err)
					}
				}
			}
		})
	}
}

// What has ended isn't done again: a second process takes none of the steps that the first one took.
func TestWhatHasEndedIsKept(t *testing.T) {
	plan := planWith(t, settings(Variant1, 4), 4)
	store := &shelf{kept: map[string][]byte{}, left: -1}
	mustRun(t, kept(t, store, 200), plan)
	if i, j := slices.Index(store.saved, "outcomes"), slices.IndexFunc(store.saved, func(name string) bool { return name[0] == '-' }); i < 0 || j < i {
		t.Errorf("states were removed before the outcomes that replace them were kept: %q", store.saved)
	}
	names := slices.Sorted(maps.Keys(store.kept))
	best := fmt.Sprint(mustRun(t, kept(t, nil, 200), plan).Private.Best + 1)
	if want := []string{"fingerprint", "outcomes", "state-0", "state-" + best, "trace-0", "trace-" + best}; !slices.Equal(names, want) {
		t.Errorf("kept %q, want %q", names, want)
	}
	store.saved = nil
	mustRun(t, kept(t, store, 200), plan)
	if len(store.saved) > 0 {
		t.Errorf("a run that has ended saved %q", store.saved)
	}
}

// A tuning doesn't go on with other data, test samples, models, settings or keys.
func TestATuningGoesOnWithTheSameAlone(t *testing.T) {
	s := settings(Variant1, 3)
	plan := planWith(t, s, 3)
	store := &shelf{kept: map[string][]byte{}, left: -1}
	mustRun(t, kept(t, store, 200), plan)
	other := func(change func(*Settings)) Plan {
		s := settings(Variant1, 3)
		change(&s)
		return planWith(t, s, 3)
	}
	for name, c := range map[string]struct {
		what   string
		change func(*Executor, *Plan)
	}{
		"data":       {"training data", func(e *Executor, _ *Plan) { e.Data = labelled(t, 200, 7).Data }},
		"test":       {"test data", func(e *Executor, _ *Plan) { e.Test = labelled(t, 300, 7) }},
		"model":      {"model", func(e *Executor, _ *Plan) { e.Model = biased() }},
		"method":     {"plan", func(_ *Executor, p *Plan) { *p = other(func(s *Settings) { s.Method = Variant2 }) }},
		"warm start": {"plan", func(_ *Executor, p *Plan) { *p = other(func(s *Settings) { s.WarmStart = true }) }},
		"noise":      {"plan", func(_ *Executor, p *Plan) { *p = other(func(s *Settings) { grid(*s)[2].NoiseMultiplier = 3 }) }},
		"key":        {"plan", func(_ *Executor, p *Plan) { *p = mustPlan(t, s, 123456) }},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := kept(t, store, 200), plan
			c.change(&e, &p)
			_, err := e.Run(t.Context(), p)
			var changed *train.ChangedError
			if !errors.As(err, &changed) || changed.What != c.what || !errors.Is(err, train.ErrOtherRun) {
				t.Errorf("%v, want a changed %s", err, c.what)
			}
		})
	}
}

// A state that can't be saved stops the tuning, even if the store recovers at once: it is no trial's fault, and the
// trial must not lose by it.
func TestAStoreThatFailsForAMomentStopsTheTuning(t *testing.T) {
	plan := planWith(t, settings(Variant1, 3), 3)
	for _, name := range []string{"state-1", "outcomes", "state-0"} {
		store := &forgetful{shelf{kept: map[string][]byte{}, left: -1}, name}
		if _, err := kept(t, store, 200).Run(t.Context(), plan); !errors.Is(err, errDead) {
			t.Errorf("%s isn't saved: %v", name, err)
		}
		got := timeless(mustRun(t, kept(t, store, 200), plan))
		if want := timeless(mustRun(t, kept(t, nil, 200), plan)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s wasn't saved once: %+v, want %+v", name, got, want)
		}
	}
}

// forgetful is a store that can't save under a name, once.
type forgetful struct {
	shelf
	name string
}

func (f *forgetful) Save(name string, content []byte) error {
	if name == f.name {
		f.name = ""
		return errDead
	}
	return f.shelf.Save(name, content)
}

// A damaged store is an error, and no trial's fault.
func TestADamagedStoreStopsTheTuning(t *testing.T) {
	plan := planWith(t, settings(Variant1, 3), 3)
	whole := &shelf{kept: map[string][]byte{}, left: -1}
	mustRun(t, kept(t, whole, 200), plan)
	for _, name := range []string{"fingerprint", "outcomes", "state-0"} {
		store := &shelf{kept: maps.Clone(whole.kept), left: -1}
		store.kept[name] = store.kept[name][:len(store.kept[name])/2]
		if _, err := kept(t, store, 200).Run(t.Context(), plan); !errors.Is(err, train.ErrState) {
			t.Errorf("half of %s: %v", name, err)
		}
	}
	store := &shelf{kept: maps.Clone(whole.kept), left: -1}
	if err := (&execution{plan: plan, keeper: train.Keeper{Store: store}}).save("outcomes", []PrivateOutcome{{Trial: 3}}); err != nil {
		t.Fatal(err)
	}
	if _, err := kept(t, store, 200).Run(t.Context(), plan); !errors.Is(err, train.ErrState) {
		t.Errorf("an outcome of trial 3 of three: %v", err)
	}
}

// Outcomes with another score, and those of another plan, are no outcomes of this one: they would select another model.
func TestOutcomesBelongToTheirPlan(t *testing.T) {
	s := settings(Variant1, 3)
	plan := planWith(t, s, 3)
	whole := &shelf{kept: map[string][]byte{}, left: -1}
	mustRun(t, kept(t, whole, 200), plan)
	foreign := &shelf{kept: map[string][]byte{}, left: -1}
	s.WarmStart = true
	mustRun(t, kept(t, foreign, 200), planWith(t, s, 3))
	mine := whole.kept["outcomes"]
	for name, outcomes := range map[string][]byte{
		"of another plan": foreign.kept["outcomes"],
		"another score":   bytes.Replace(mine, []byte(`\"score\":1`), []byte(`\"score\":0`), 1),
		"none":            {},
	} {
		store := &shelf{kept: maps.Clone(whole.kept), left: -1}
		if store.kept["outcomes"] = outcomes; bytes.Equal(outcomes, mine) {
			t.Fatalf("%s: no change of %q", name, mine)
		}
		if _, err := kept(t, store, 200).Run(t.Context(), plan); !errors.Is(err, train.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
