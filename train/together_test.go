package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dptrain/dptrain/train"
)

// alike returns n runs of the same trial, which differ in their keys alone, the settings of crowd for their first run,
// and a test set.
func alike(t *testing.T, n, steps int) (*train.Loaded, []train.Settings, *train.Classification) {
	t.Helper()
	loaded, settings, test := crowd(t)
	out := make([]train.Settings, n)
	for i := range out {
		out[i] = settings[0]
		out[i].Key, out[i].Privacy.Steps = train.InsecureKey(uint64(i)+1), steps
	}
	return loaded, out, test
}

// encoded returns the bytes of a run's state after it trained alone.
func encoded(t *testing.T, loaded *train.Loaded, s train.Settings) []byte {
	t.Helper()
	group, err := loaded.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	if err := group.Train(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	state, err := group.State(0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// counting is a store that counts the states that it saves.
type counting struct {
	shelf
	states *int
}

func (c counting) Save(name string, content []byte) error {
	if name == "state-1" {
		*c.states++
	}
	return c.shelf.Save(name, content)
}

// Each run of a group has its own keeper: its own store and interval, though all have the same trial. Each goes on from
// its own state.
func TestEachRunHasItsKeeper(t *testing.T) {
	loaded, settings, _ := alike(t, 4, 400)
	often, seldom := new(int), new(int)
	stores := []shelf{{}, {}, nil, {}}
	keepers := []train.Keeper{
		{Store: counting{stores[0], often}, Every: time.Millisecond},
		{Store: counting{stores[1], seldom}, Every: time.Hour},
		{},
		{Store: stores[3]},
	}
	group, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := group.TrainKept(ctx, keepers, func(p []train.Progress) {
		if *often >= 2 && p[1].Step > 0 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if *often < 2 || *seldom != 1 {
		t.Errorf("%d and %d states are saved, want many and the last", *often, *seldom)
	}
	again, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.TrainKept(t.Context(), keepers, nil); err != nil {
		t.Fatal(err)
	}
	for i, s := range settings {
		want := encoded(t, loaded, s)
		if state, err := again.State(i); err != nil {
			t.Error(err)
		} else if got, _ := state.MarshalBinary(); !slices.Equal(got, want) {
			t.Errorf("run %d ends otherwise than alone", i)
		}
		if stores[i] != nil && !slices.Equal(stores[i]["state-1"], want) {
			t.Errorf("the store of run %d has another state", i)
		}
	}
}

// Each run is scored on the test set of its keeper: with all labels swapped, a model that learns is mostly wrong.
func TestEachRunHasItsCurve(t *testing.T) {
	loaded, settings, test := alike(t, 3, 40)
	samples, swapped := make([]float32, 20*test.Samples()), make([]int32, test.Samples())
	for i := range swapped {
		swapped[i] = int32(1 - i%2)
		for k := range 20 {
			samples[i*20+k] = float32(math.Sin(float64(i*20+k))) + float32(i%2)
		}
	}
	other, err := train.NewClassification(samples, swapped, 2)
	if err != nil {
		t.Fatal(err)
	}
	group, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	spacing := train.Spacing{Every: 40}
	traces, err := group.TrainKept(t.Context(), []train.Keeper{{Curve: test, Spacing: spacing}, {Curve: other, Spacing: spacing}, {Curve: test}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own, swap := traces[0].Released, traces[1].Released
	if len(own) != 2 || len(swap) != 2 || own[1].Score < 0.6 || swap[1].Score > 0.4 || traces[2].Released != nil {
		t.Errorf("%v, %v and %v", own, swap, traces[2].Released)
	}
}

// Each run has its own keeper. The error about a store that fails names its run, and the other runs' states are saved.
func TestTheKeeperThatFailsIsNamed(t *testing.T) {
	loaded, settings, _ := alike(t, 3, 60)
	group, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	var wrong *train.SettingError
	for _, n := range []int{0, 1, 4} {
		if _, err := group.TrainKept(t.Context(), make([]train.Keeper, n), nil); !errors.As(err, &wrong) {
			t.Errorf("%d keepers for three runs: %v", n, err)
		}
	}
	stores := []shelf{{}, {}, {}}
	keepers := []train.Keeper{{Store: stores[0], Every: time.Hour}, {Store: broken{stores[1], new(int)}}, {Store: stores[2], Every: time.Hour}}
	var unkept *train.KeepError
	for _, every := range []time.Duration{time.Millisecond, time.Hour} { // on the way, and at the end
		keepers[1].Every = every
		_, err = group.TrainKept(t.Context(), keepers, nil)
		if !errors.As(err, &unkept) || unkept.Run != 1 || unkept.Trial != 1 || err.Error() != "state of run 1: the disk is full" {
			t.Fatalf("%v", err)
		}
		for i := range settings {
			state, err := group.State(i)
			if saved := len(stores[i]) > 0; err != nil || saved != (i != 1 && state.Step() > 0) {
				t.Errorf("run %d at step %d: saved %t", i, state.Step(), saved)
			}
		}
	}
	stores[1]["state-1"] = []byte("nothing")
	again, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.TrainKept(t.Context(), keepers, nil); !errors.As(err, &unkept) || unkept.Run != 1 || !errors.Is(err, train.ErrState) {
		t.Errorf("a damaged state: %v", err)
	}
}

// TrainAll returns the same outcomes as training each run alone, reports progress and ends, and its times add up to at
// most the time that passed.
func TestTrainAllIsTrainingEach(t *testing.T) {
	loaded, settings, test := alike(t, 3, 40)
	settings[1].Privacy.Steps, settings[1].Trial = 70, 9
	settings[2].Optimizer = train.SGD(1e60) // diverges
	var runs []train.Run
	last, ended := make([]train.Progress, 3), make([]int, 3)
	for i, s := range settings {
		runs = append(runs, train.Run{
			Settings: s,
			Progress: func(p train.Progress) { last[i] = p },
			Ended:    func(train.Trained) { ended[i]++ },
		})
	}
	runs = append(runs, train.Run{Settings: settings[0]}) // without functions
	began := time.Now()
	out, err := loaded.TrainAll(t.Context(), test, runs...)
	if err != nil || len(out) != 4 {
		t.Fatal(err)
	}
	took, sum := time.Since(began).Seconds(), 0.0
	for i, r := range out {
		sum += r.Trace.Seconds
		alone, err := loaded.TrainAll(t.Context(), test, train.Run{Settings: runs[i].Settings})
		if err != nil {
			t.Fatal(err)
		}
		if alone[0].Trace = r.Trace; i != 2 && !reflect.DeepEqual(alone[0], r) {
			t.Errorf("run %d: %+v, alone %+v", i, r.Score, alone[0].Score)
		}
		if r.Err != nil || r.Result.Diverged() != (i == 2) || (r.Score == 0) != (i == 2) || r.Result.Event == nil {
			t.Errorf("run %d: score %v, %v", i, r.Score, r.Err)
		}
		if i < 3 && (last[i] != train.Progress{Step: runs[i].Settings.Privacy.Steps, Steps: runs[i].Settings.Privacy.Steps} || ended[i] != 1) {
			t.Errorf("run %d: told %+v, ended %d times", i, last[i], ended[i])
		}
	}
	if !(sum > 0 && sum <= took) {
		t.Errorf("%v s of %v", sum, took)
	}
}

// A run that can't start fails alone, at any position. The error about a store names its run by the number among all
// runs, even if they train in smaller groups.
func TestARunThatCannotStartFailsAlone(t *testing.T) {
	loaded, settings, test := alike(t, 7, 2)
	for _, wrong := range []int{0, 3, 6} {
		runs := make([]train.Run, len(settings))
		for i, s := range settings {
			if i == wrong {
				s.Privacy.ClippingNorm = -1
			}
			runs[i].Settings = s
		}
		out, err := loaded.TrainAll(t.Context(), test, runs...)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range out {
			var setting *train.SettingError
			if errors.As(r.Err, &setting) != (i == wrong) || (r.Score == 0) != (i == wrong) {
				t.Errorf("run %d is wrong; run %d: %v", wrong, i, r.Err)
			}
		}
		for _, i := range []int{1, 2, 5} {
			broke := slices.Clone(runs)
			broke[i].Keeper = train.Keeper{Store: broken{shelf{}, new(int)}}
			var unkept *train.KeepError
			if _, err := loaded.TrainAll(t.Context(), test, broke...); !errors.As(err, &unkept) || unkept.Run != i {
				t.Errorf("run %d is wrong, the store of run %d fails: %v", wrong, i, err)
			}
		}
	}
}

// TrainAll without runs does nothing, without a test set scores nothing, and refuses invalid arguments.
func TestTrainAllChecksFirst(t *testing.T) {
	loaded, settings, test := alike(t, 2, 5)
	runs := []train.Run{{Settings: settings[0]}, {Settings: settings[1]}}
	if out, err := loaded.TrainAll(t.Context(), test); len(out) != 0 || err != nil {
		t.Errorf("no runs: %v, %v", out, err)
	}
	scored, err := loaded.TrainAll(t.Context(), test, runs...)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := loaded.TrainAll(t.Context(), nil, runs...); err != nil || out[1].Score != 0 || !reflect.DeepEqual(out[1].Result, scored[1].Result) {
		t.Errorf("no test set: a score of %v, or another model; %v", out[1].Score, err)
	}
	if f, err := loaded.Fingerprint(nil); err != nil || f["model"] == "" || f["metric"] != "" {
		t.Errorf("no test set: fingerprint %v, %v", f, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		test train.Labelled
	}{
		"cancelled":     {ctx, test},
		"nil test set":  {t.Context(), (*train.Classification)(nil)},
		"wrong outputs": {t.Context(), regression(t)},
	} {
		if out, err := loaded.TrainAll(c.ctx, c.test, runs...); err == nil || out != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	if err := loaded.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.TrainAll(t.Context(), test, runs...); !errors.Is(err, train.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func regression(t *testing.T) *train.Regression {
	r, err := train.NewRegression(make([]float32, 40), []float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A progress function that panics stops the runs, and leaves nothing open.
func TestTrainAllPanics(t *testing.T) {
	loaded, settings, test := alike(t, 2, 100000)
	func() {
		defer func() {
			if got := fmt.Sprint(recover()); got != "mine" {
				t.Errorf("recovered %v", got)
			}
		}()
		_, _ = loaded.TrainAll(t.Context(), test, train.Run{Settings: settings[0]}, train.Run{Settings: settings[1], Progress: func(train.Progress) { panic("mine") }})
	}()
	if err := loaded.Close(); err != nil {
		t.Error(err)
	}
}
