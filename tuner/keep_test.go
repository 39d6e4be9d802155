package tuner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// shelf is a store in memory. After some operations the process "dies": the last operation is done with probability
// 1/2, and all later ones fail.
type shelf struct {
	kept  map[string][]byte
	left  int // operations until death; negative for a long life
	draw  *rand.Rand
	saved []string // names, in order; removed ones after a "-"
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
	o.Groups = []train.ParameterGroup{{Parameters: []string{"w"}, LearningRate: 2, WeightDecay: 0.5}}
	return o
}

// Runs that have ended aren't run again: a second process takes none of the first one's steps.
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

// A tuning refuses to go on with other data, test samples, models, settings or keys.
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
		"data":   {"training data", func(e *Executor, _ *Plan) { e.Data = labelled(t, 200, 7).Data }},
		"test":   {"test data", func(e *Executor, _ *Plan) { e.Test = labelled(t, 300, 7) }},
		"model":  {"model", func(e *Executor, _ *Plan) { e.Model = biased() }},
		"method": {"plan", func(_ *Executor, p *Plan) { *p = other(func(s *Settings) { s.Method = Variant2 }) }},
		"noise":  {"plan", func(_ *Executor, p *Plan) { *p = other(func(s *Settings) { grid(*s)[2].NoiseMultiplier = 3 }) }},
		"key":    {"plan", func(_ *Executor, p *Plan) { *p = mustPlan(t, s, 123456) }},
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

// Outcomes with another score, or of another plan, are refused: they would select another model.
func TestOutcomesBelongToTheirPlan(t *testing.T) {
	s := settings(Variant1, 3)
	plan := planWith(t, s, 3)
	whole := &shelf{kept: map[string][]byte{}, left: -1}
	mustRun(t, kept(t, whole, 200), plan)
	foreign := &shelf{kept: map[string][]byte{}, left: -1}
	s.SubsetRate = 0.3
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
	other, automatic := plan, plan // with the same draws
	other.Private.Key[0]++
	automatic.Settings.Clipping = train.AutomaticClipping
	a, err := plan.digest()
	for what, p := range map[string]Plan{"key": other, "rule of clipping": automatic} {
		if b, err2 := p.digest(); a == b || err != nil || err2 != nil {
			t.Errorf("a plan of another %s is the same: %v, %v", what, err, err2)
		}
	}
	if text, err := json.Marshal(plan.Settings); err != nil || bytes.Contains(text, []byte(`"Clipping"`)) {
		t.Errorf("a plan of fixed clipping hasn't the hash of earlier versions, whose tunings are resumed: %v", err)
	}
}
