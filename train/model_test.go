package train

import (
	"math/rand/v2"
	"reflect"
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

// Initial values come from the run's key and trial, by the stream that is kept for them, unless the settings give some.
// The stream is part of what a key means: released models of one key depend on it.
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

// Groups are started concurrently; the model's function needn't be safe for that. The race detector looks on.
func TestInitialValuesAreDrawnOneRunAtATime(t *testing.T) {
	l, err := Load(&fakeEngine{}, drawing(t), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { l.initial(settings()) })
	}
	all.Wait()
}

// An Initial that panics leaves no group behind, which would keep the model from being closed.
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
