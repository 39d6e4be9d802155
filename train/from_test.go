package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
)

// stateAfter trains a run to its end and returns its state, as another process would read it.
func stateAfter(t *testing.T, s Settings) *State {
	t.Helper()
	trainer := onCPU(t, 1, s)
	if _, err := trainer.Train(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	state := new(State)
	if err := state.UnmarshalBinary(encode(t, must(trainer.State()))); err != nil {
		t.Fatal(err)
	}
	return state
}

// Without random draws a run that goes on gives the bytes of one run of all steps: parameters, moments and Adam's bias
// correction, which depends on the number of steps, go on as if there had been no end.
func TestFromGoesOnWithTheWholeState(t *testing.T) {
	for _, o := range []Optimizer{SGD(0.5), Adam(0.02)} {
		s := cpuSettings(o)
		s.Privacy.SamplingRate, s.Privacy.NoiseMultiplier, s.Privacy.Steps = 1, 0, 30
		want, err := onCPU(t, 1, s).Train(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Privacy.Steps = 12
		s.From = stateAfter(t, s)
		s.Privacy.Steps, s.Key = 30, InsecureKey(77)
		got, err := onCPU(t, 2, s).Train(t.Context(), nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: 12 and 18 steps aren't 30 (%v)", o.Method, err)
		}
		s.From = new(*s.From)
		s.From.inner.Step = 11
		if got, err := onCPU(t, 2, s).Train(t.Context(), nil); err != nil || reflect.DeepEqual(got, want) {
			t.Errorf("%s: the test doesn't see a step more (%v)", o.Method, err)
		}
	}
}

// A state of another optimizer is an error of the settings, and the error says so; the state is valid.
func TestFromNamesTheOptimizer(t *testing.T) {
	averaged := SGD(0.5)
	averaged.Average = 0.9
	for _, pair := range [][2]Optimizer{{SGD(0.5), Adam(0.02)}, {Adam(0.02), SGD(0.5)}, {averaged, SGD(0.5)}, {SGD(0.5), averaged}} {
		s := cpuSettings(pair[0])
		s.Privacy.Steps = 2
		s.From = stateAfter(t, s)
		s.Privacy.Steps, s.Optimizer = 4, pair[1]
		model, data := logistic(t, rand.NewPCG(1, 2)), threeClouds(t, 60).Data
		_, err := New(cpu.New(cpu.Options{Workers: 1}), model, data, s)
		wrong := (*SettingError)(nil)
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "go on from step 2: optimizer is "+pair[1].String()+": want that of the run") {
			t.Errorf("%s after %s: %v", pair[1], pair[0], err)
		}
	}
}

// No two of these runs share a stream, though all have one key and one trial: not the longer and the shorter run, nor a
// run that goes on and any other run. Shared noise would cancel in the difference of two sums.
func TestFromHasStreamsOfItsOwn(t *testing.T) {
	e := &fakeEngine{}
	loaded, err := Load(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	short := settings()
	short.Privacy.Steps = 5
	group, err := loaded.Start(short)
	if err != nil {
		t.Fatal(err)
	}
	initial, err := group.State(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Train(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	state, err := group.State(0)
	if err != nil {
		t.Fatal(err)
	}
	other := state
	other.inner.Params = [][]float32{append([]float32{1}, state.inner.Params[0][1:]...), state.inner.Params[1]}
	runs := map[string]Settings{"short": short}
	add := func(name string, steps int, from *State) {
		s := settings()
		s.Privacy.Steps, s.From = steps, from
		runs[name] = s
	}
	add("long", 9, nil)
	add("longer", 10, nil)
	add("from 5 to 9", 9, &state)
	add("from 5 to 10", 10, &state)
	add("from others to 9", 9, &other)
	add("from 0 to 9", 9, &initial)
	keys := map[Key]string{}
	for name, s := range runs {
		group, err := loaded.Start(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, taken := keys[e.job.Key]; taken {
			t.Errorf("%s and %s draw from the same streams", name, other)
		}
		keys[e.job.Key] = name
		if err := errors.Join(group.Train(t.Context(), nil), group.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that goes on can be stopped and resumed like any other, has the event of all steps, and a curve of its own.
func TestFromIsKept(t *testing.T) {
	test, s := threeClouds(t, 300), cpuSettings(Adam(0.02))
	s.Privacy.Steps = 30
	s.From = stateAfter(t, s)
	s.Privacy.Steps, s.Key = 100, InsecureKey(5)
	want, err := onCPU(t, 1, s).Train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want.Event, s.Privacy.Event()) {
		t.Errorf("the event is %v, want that of 100 steps", want.Event)
	}
	store, processes := &memory{kept: map[string][]byte{}, left: 1}, 0
	keeper := Keeper{Store: store, Every: time.Microsecond, Curve: test, Spacing: Spacing{Every: 30}}
	for {
		store.left = 4
		all, err := onCPU(t, 2, s).group.model.TrainAll(t.Context(), test, Run{Settings: s, Keeper: keeper})
		if processes++; errors.Is(err, errNotYet) && processes < 1000 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(all[0].Result, want) {
			t.Error("the resumed run ends elsewhere")
		}
		c := all[0].Curve
		if len(c) != 4 || c[0].Step != 30 || c[1].Step != 60 || c[2].Step != 90 || c[3] != (Point{100, all[0].Score}) {
			t.Errorf("curve %v, score %v", c, all[0].Score)
		}
		break
	}
	if processes < 2 {
		t.Error("nothing was resumed")
	}
}

func TestFromIsChecked(t *testing.T) {
	s := cpuSettings(SGD(0.5))
	s.Privacy.Steps = 10
	from := stateAfter(t, s)
	for name, change := range map[string]func(*Settings){
		"initial values too": func(s *Settings) { s.Initial = [][]float32{make([]float32, 6), make([]float32, 3)} },
		"fewer steps":        func(s *Settings) { s.Privacy.Steps = 9 },
		"another method":     func(s *Settings) { s.Optimizer = Adam(0.1) },
		"no parameters":      func(s *Settings) { s.From = &State{} },
		"another model": func(s *Settings) {
			s.From = &State{inner: tensors{Step: 1, Params: [][]float32{{1}, {2}}}}
		},
	} {
		s := s
		s.From = from
		change(&s)
		loaded := onCPU(t, 1, cpuSettings(SGD(0.5))).group.model
		if group, err := loaded.Start(s); err == nil {
			t.Errorf("%s: no error", name)
			_ = group.Close()
		}
	}
	s.From = from
	same, err := onCPU(t, 1, s).Train(t.Context(), nil) // no step is added
	if err != nil || !reflect.DeepEqual(same.Parameters[0].Values, from.inner.Params[0]) {
		t.Errorf("no step more changes the parameters (%v)", err)
	}
}

// The event of a run that goes on has all steps with its own privacy settings. If the other run's steps had other
// settings, the event would state a guarantee that these steps don't have: in the first case they have none.
func TestFromIsOfTheSameMechanism(t *testing.T) {
	s := cpuSettings(SGD(0.5))
	s.Privacy.Steps = 3
	for name, change := range map[string]func(*Privacy){
		"without noise": func(p *Privacy) { p.NoiseMultiplier = 0 },
		"less noise":    func(p *Privacy) { p.NoiseMultiplier = 0.5 },
		"more samples":  func(p *Privacy) { p.SamplingRate, p.NominalSize = 0.2, 300 },
		"a larger norm": func(p *Privacy) { p.ClippingNorm = 2 },
		"another rule":  func(p *Privacy) { p.Clipping = AutomaticClipping },
		"a larger size": func(p *Privacy) { p.NominalSize = 601 },
	} {
		other, next := s, s
		change(&other.Privacy)
		next.From, next.Privacy.Steps = stateAfter(t, other), 5
		_, err := onCPU(t, 1, s).group.model.Start(next)
		var setting *SettingError
		if !errors.As(err, &setting) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A run in between doesn't change that.
	s.From = stateAfter(t, s)
	s.Privacy.Steps = 5
	s.From = stateAfter(t, s)
	s.Privacy.Steps = 7
	if got, err := onCPU(t, 1, s).Train(t.Context(), nil); err != nil || !reflect.DeepEqual(got.Event, s.Privacy.Event()) {
		t.Errorf("event %v (%v)", got.Event, err)
	}
	s.Privacy.NoiseMultiplier = 2
	if _, err := onCPU(t, 1, cpuSettings(SGD(0.5))).group.model.Start(s); err == nil {
		t.Error("the third run has other noise")
	}
}

// counted is a rule that moves nothing and records its arguments.
type counted struct {
	calls *[]Update
}

func (counted) Name() string      { return "counted" }
func (counted) State([]int) []int { return nil }
func (c counted) Move(u *Update) error {
	*c.calls = append(*c.calls, Update{Step: u.Step, Steps: u.Steps, Gradient: [][]float32{{u.Gradient[0][0]}}})
	return nil
}

// The last update of a run averages the noisy means that are left, and a run that goes on begins a new update. If
// parameters don't move, each mean is 1, and so is each mean of means. Each update has its own number.
func TestFromBeginsAnUpdate(t *testing.T) {
	var calls []Update
	o := OptimizerOf(counted{&calls}, 1)
	o.Accumulate = 3
	s := Settings{Privacy: Privacy{SamplingRate: 1, ClippingNorm: 100, NominalSize: 1}, Optimizer: o, Key: InsecureKey(1)}
	for _, steps := range []int{4, 6, 10} { // updates of 3, 1; 2; 3, 1
		s.Privacy.Steps = steps
		trainer, err := New(cpu.New(cpu.Options{Workers: 1}), bowl(t), must(NewData(1, []float32{0})), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Train(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		state := new(State)
		if err := state.UnmarshalBinary(encode(t, must(trainer.State()))); err != nil {
			t.Fatal(err)
		}
		s.From = state
		_ = trainer.Close()
	}
	for i, u := range calls {
		if u.Step != i+1 || u.Steps != []int{2, 2, 3, 5, 5}[i] || math.Abs(float64(u.Gradient[0][0])-1) > 1e-4 {
			t.Errorf("update %d of %d has gradient %v; it is the %d-th", u.Step, u.Steps, u.Gradient[0][0], i+1)
		}
	}
	if len(calls) != 5 {
		t.Errorf("%d updates, want 5", len(calls))
	}
}

// A state can't have as many waiting noisy means as make an update. It must be of a run with more noisy means in each
// update.
func TestFewerNoisyMeansWait(t *testing.T) {
	m := &mover{optimizer: Optimizer{Accumulate: 3}}
	if m.fits(tensors{Pending: 2}) != nil || !errors.Is(m.fits(tensors{Pending: 3}), ErrState) {
		t.Errorf("2 of 3 wait: %v; 3 of 3: %v", m.fits(tensors{Pending: 2}), m.fits(tensors{Pending: 3}))
	}
}
