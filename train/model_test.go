package train

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// drawing returns a logistic regression that draws its initial values, each time into the same memory.
func drawing(t testing.TB) Model {
	m := logistic(t, rand.NewPCG(3, 4))
	values := [][]float32{make([]float32, 6), make([]float32, 3)}
	m.Initial = func(seed rand.Source) [][]float32 {
		draw := rand.New(seed)
		for _, v := range values {
			for k := range v {
				v[k] = draw.Float32()
			}
		}
		return values
	}
	return m
}

// Unless the settings give initial values, they come from the run's key and trial, by a stream of their own. The stream
// must stay as it is: released models of a key depend on it.
func TestStartDrawsInitialValues(t *testing.T) {
	e := &fakeEngine{}
	l, err := Load(e, drawing(t), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	given := settings()
	given.Initial = [][]float32{{1, 2, 3, 4, 5, 6}, {7, 8, 9}}
	other := settings()
	other.Trial = 5
	if _, err := l.Start(settings(), other, given); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][][]float32{nil, nil, given.Initial} {
		if want == nil {
			want = drawing(t).Initial(settings().Key.Stream(random.ID{Purpose: random.Initialisation, Trial: e.jobs[i].Trial}))
		}
		if got := engine.LayoutOf(e.program).Split(e.jobs[i].Initial); !reflect.DeepEqual(got, want) {
			t.Errorf("run %d begins with %v, want %v", i, got, want)
		}
	}
}

// Groups are started concurrently, and the model's function need be neither safe for that nor leave its memory alone
// afterwards. Eight draws of 2^16 values into one memory take turns, each value its own run's.
func TestInitialValuesAreDrawnOneRunAtATime(t *testing.T) {
	model := drawing(t)
	values := [][]float32{make([]float32, 1<<16), make([]float32, 1<<16)}
	model.Initial = func(seed rand.Source) [][]float32 {
		own := float32(seed.Uint64() >> 40)
		for _, v := range values {
			for k := range v {
				if v[k] = own; k%(1<<12) == 0 {
					runtime.Gosched() // another draw would begin
				}
			}
		}
		return values
	}
	l, err := Load(&fakeEngine{}, model, threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make([][][]float32, 8)
	var all sync.WaitGroup
	for i := range drawn {
		all.Go(func() {
			s := settings()
			s.Trial = uint32(i)
			drawn[i] = l.initial(s)
		})
	}
	all.Wait()
	for i, got := range drawn {
		want := float32(settings().Key.Stream(random.ID{Purpose: random.Initialisation, Trial: uint32(i)}).Uint64() >> 40)
		for _, v := range got {
			if k := slices.IndexFunc(v, func(x float32) bool { return x != want }); k >= 0 {
				t.Errorf("trial %d: value %d is %v, want %v", i, k, v[k], want)
			}
		}
	}
}

// An Initial that panics leaves no group behind: with one, the model couldn't be closed.
func TestInitialThatPanics(t *testing.T) {
	m := drawing(t)
	m.Initial = func(rand.Source) [][]float32 { panic("mine") }
	l := must(Load(&fakeEngine{}, m, threeClouds(t, 60).Data))
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				t.Errorf("recovered %v", got)
			}
		}()
		_, _ = l.Start(settings())
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
