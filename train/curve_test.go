package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"pgregory.net/rapid"
)

// The marks are first, first + every, … and last, by counting all steps.
func TestMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := marks{rapid.IntRange(0, 20).Draw(t, "first"), rapid.IntRange(1, 30).Draw(t, "every"), 0}
		m.last = m.first + rapid.IntRange(0, 50).Draw(t, "steps")
		var want []int
		for step, left := m.first, 0; step <= m.last; step++ {
			if left == 0 || step == m.last {
				want = append(want, step)
				left = m.every
			}
			left--
		}
		var got []int
		for step := range m.last + 3 {
			if m.has(step) {
				got = append(got, step)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v has %v, want %v", m, got, want)
		}
		var met []int
		for step := m.first; ; step = m.after(step) {
			met = append(met, step)
			if step >= m.last {
				break
			}
		}
		if !slices.Equal(met, want) {
			t.Fatalf("%+v: one after the other %v, want %v", m, met, want)
		}
	})
	if step := (marks{0, math.MaxInt, 1000}).after(1); step != 1000 {
		t.Errorf("after step 1 comes %d of 1000", step)
	}
}

func TestSpacingSpacesPoints(t *testing.T) {
	for _, test := range []struct {
		spacing     Spacing
		first, last int
		every       int
	}{
		{Spacing{}, 0, 100, 0},
		{Spacing{Points: 20}, 0, 1878, 94}, // 1878/20 = 93.9
		{Spacing{Points: 20}, 0, 7, 1},
		{Spacing{Points: 4}, 100, 140, 10},
		{Spacing{Points: 3}, 5, 5, 1},
		{Spacing{Every: 7}, 0, 100, 7},
	} {
		if m := test.spacing.marks(test.first, test.last); m.every != test.every || m.first != test.first || m.last != test.last {
			t.Errorf("%+v from %d to %d: %+v, want every %d", test.spacing, test.first, test.last, m, test.every)
		}
	}
}

func TestSpacingIsChecked(t *testing.T) {
	public := threeClouds(t, 60)
	measured := must(ScoredBy(public, MeasureFunc("outputs", func(outputs []float32, _ Labels) float64 { return float64(len(outputs)) })))
	private, err := NewHeldOut(public, []int32{4, 7}, HeldOutSettings{Rate: 0.1, NoiseMultiplier: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		spacing Spacing
		on      Labelled
		wrong   string // "" if it is right
	}{
		{Spacing{}, nil, ""},
		{Spacing{Points: 3}, public, ""},
		{Spacing{Every: 3}, public, ""},
		{Spacing{Every: 3}, measured, ""},
		{Spacing{Points: 3}, nil, "learning curve is without a test set:"},
		{Spacing{Points: 3}, private, "learning curve is of held-out samples:"},
		{Spacing{Points: 3}, struct{ *Classification }{public}, "test set of the learning curve is a struct"},
		{Spacing{Points: 3, Every: 3}, public, "spacing of the learning curve is {"},
		{Spacing{Points: -3}, public, "spacing of the learning curve is {"},
		{Spacing{Every: -3}, public, "spacing of the learning curve is {"},
	} {
		group := onCPU(t, 1, cpuSettings(SGD(0.5))).group
		_, err := group.TrainKept(t.Context(), []Keeper{{Curve: test.on, Spacing: test.spacing}}, nil)
		var wrong *SettingError
		if (test.wrong == "") != (err == nil) || err != nil && (!errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), test.wrong)) {
			t.Errorf("%+v on %T: %v", test.spacing, test.on, err)
		}
	}
}

var errNotYet = errors.New("not yet")

// memory is a store in memory, which fails once a number of saves is used up.
type memory struct {
	kept map[string][]byte
	left int
}

func (m *memory) Save(name string, content []byte) error {
	if m.left--; m.left < 0 {
		return errNotYet
	}
	m.kept[name] = slices.Clone(content)
	return nil
}
func (m *memory) Load(name string) ([]byte, error) { return m.kept[name], nil }
func (m *memory) Remove(name string) error {
	delete(m.kept, name)
	return nil
}

// A released curve has each of its steps once, with that step's score, and changes no bit of the model, whenever and
// however often the process dies. If the state were saved before the curve, points would be lost.
func TestReleasedCurvesSurviveCrashes(t *testing.T) {
	settings, test := cpuSettings(Adam(0.02)), threeClouds(t, 300)
	settings.Privacy.Steps = 60
	want, err := onCPU(t, 1, settings).Train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var points []Point
	plain := onCPU(t, 1, settings)
	for step := range 61 {
		if step%7 == 0 || step == 60 {
			if err := plain.group.train(t.Context(), []int{step}, nil); err != nil {
				t.Fatal(err)
			}
			points = append(points, Point{step, must(plain.Score(t.Context(), test))})
		}
	}
	if steps := []int{0, 7, 14, 21, 28, 35, 42, 49, 56, 60}; len(points) != len(steps) {
		t.Fatalf("%d points, want those of %v", len(points), steps)
	}
	for saves := range 6 {
		store, crashes := &memory{kept: map[string][]byte{}}, 0
		for {
			store.left = 2 + saves // with fewer the run never gets ahead
			trainer := onCPU(t, 2, settings)
			all, err := trainer.group.model.TrainAll(t.Context(), test, Run{
				Settings: settings, Keeper: Keeper{Store: store, Every: time.Microsecond, Curve: test, Spacing: Spacing{Every: 7}},
			})
			if crashes++; errors.Is(err, errNotYet) && crashes < 1000 {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if all[0].Err != nil || !reflect.DeepEqual(all[0].Result, want) {
				t.Errorf("%d saves a process: another model (%v)", store.left, all[0].Err)
			}
			if !slices.Equal(all[0].Curve, points) {
				t.Errorf("%d saves a process: curve %v, want %v", saves+2, all[0].Curve, points)
			}
			break
		}
		t.Logf("%d saves a process: %d processes", saves+2, crashes)
	}
}

// Runs with and without a released curve train side by side, each as it would alone.
func TestReleasedCurvesBesideOthers(t *testing.T) {
	test := threeClouds(t, 300)
	loaded, err := Load(cpu.New(cpu.Options{Workers: 2}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 600).Data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	run := func(steps int, s Spacing) Run {
		settings := cpuSettings(SGD(0.5))
		settings.Privacy.Steps = steps
		return Run{Settings: settings, Keeper: Keeper{Curve: test, Spacing: s}}
	}
	all, err := loaded.TrainAll(t.Context(), test, run(50, Spacing{Every: 20}), run(90, Spacing{}), run(10, Spacing{Points: 3}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{0, 20, 40, 50}, nil, {0, 4, 8, 10}} {
		var steps []int
		for _, p := range all[i].Curve {
			steps = append(steps, p.Step)
		}
		if all[i].Err != nil || !slices.Equal(steps, want) {
			t.Errorf("run %d: points at %v, want %v (%v)", i, steps, want, all[i].Err)
		}
		if n := len(all[i].Curve); n > 0 && all[i].Curve[n-1].Score != all[i].Score {
			t.Errorf("run %d: the last point is %v, and the score %v", i, all[i].Curve[n-1], all[i].Score)
		}
	}
}

// A run that fails leaves the others their curves, up to the last point.
func TestReleasedCurvesBesideAFailure(t *testing.T) {
	test := threeClouds(t, 30)
	e := &fakeEngine{}
	e.broken = func(run int) error {
		if run == 1 {
			return errNotYet
		}
		return nil
	}
	loaded, err := Load(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []int{4, 10, 100} {
		whole, failing := settings(), settings()
		whole.Privacy.Steps, failing.Privacy.Steps = 10, 20
		k := Keeper{Curve: test, Spacing: Spacing{Every: every}}
		all, err := loaded.TrainAll(t.Context(), test, Run{Settings: whole, Keeper: k}, Run{Settings: failing, Keeper: k})
		if err != nil || all[0].Err != nil || !errors.Is(all[1].Err, errNotYet) {
			t.Fatalf("%v, %+v", err, all)
		}
		var steps []int
		for _, p := range all[0].Curve {
			steps = append(steps, p.Step)
		}
		if want := map[int][]int{4: {0, 4, 8, 10}, 10: {0, 10}, 100: {0, 10}}[every]; !slices.Equal(steps, want) {
			t.Errorf("every %d: points at %v, want %v", every, steps, want)
		}
	}
}
