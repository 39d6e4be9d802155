package train

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

func twoRuns(t *testing.T, e *fakeEngine) (*Group, [2]Settings) {
	t.Helper()
	one, two := settings(), settings()
	two.Trial, two.Privacy.Steps = 1, 30
	l, err := Load(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Start(one, two)
	if err != nil {
		t.Fatal(err)
	}
	return g, [2]Settings{one, two}
}

// Each run of a group has its own state, equal to the state of the same run alone.
func TestStatesOfAGroup(t *testing.T) {
	g, s := twoRuns(t, &fakeEngine{})
	if err := g.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	states := []State{must(g.State(0)), must(g.State(1))}
	for i := range states {
		lone, _ := start(t, s[i])
		if _, err := lone.Train(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		want, _ := must(lone.State()).MarshalBinary()
		got, _ := states[i].MarshalBinary()
		if !bytes.Equal(got, want) {
			t.Errorf("run %d has another state in a group", i)
		}
	}
	fresh, _ := twoRuns(t, &fakeEngine{})
	for i := range states {
		if err := fresh.Restore(i, states[1-i]); err == nil {
			t.Errorf("run %d took run %d's state", i, 1-i)
		}
	}
	if err := fresh.Restore(1, states[1]); err != nil {
		t.Fatal(err)
	}
	if a, b := must(fresh.State(0)).Step(), must(fresh.State(1)).Step(); a != 0 || b != 30 {
		t.Errorf("after run 1 was restored the runs are at %d and %d", a, b)
	}
}

// A state beyond the run's end is refused, even if it is the run's own.
func TestStateBeyondTheEnd(t *testing.T) {
	trainer, _ := start(t, settings())
	s := must(trainer.State())
	s.inner.Step = 51
	if err := trainer.Restore(s); err == nil {
		t.Error("step 51 of 50 was restored")
	}
}

// A model with more outputs than the test set has classes can't be scored: rows would be cut in the wrong place.
func TestMoreOutputsThanClasses(t *testing.T) {
	trainer, _ := start(t, settings())
	two, err := NewClassification(make([]float32, 8), []int32{0, 1, 0, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The label column is then two wide. With a column of the right size, the check of classes must refuse the set.
	two.columns.Columns[1].Floats = make([]float32, 12)
	if err := trainer.group.model.CheckTest(two); err == nil {
		t.Error("two classes are scored by three outputs")
	}
}

// An engine's memory is freed if the run can't start, and a lone run's error is not a RunErrors.
func TestLoneRunsErrors(t *testing.T) {
	e := &fakeEngine{}
	s := settings()
	s.Optimizer.LearningRate = -1
	if _, err := New(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, s); err == nil || e.closed != 1 {
		t.Errorf("%v; closed %d times", err, e.closed)
	}
	trainer, e := start(t, settings())
	e.broken = func(int) error { return context.DeadlineExceeded }
	var group RunErrors
	if _, err := trainer.Train(context.Background(), nil); err == nil || errors.As(err, &group) {
		t.Errorf("got %v", err)
	}
}

// Predictions need no labels, and accuracy is computed from them; a run that doesn't exist is an error.
func TestPredict(t *testing.T) {
	trainer := onCPU(t, 2, cpuSettings(SGD(0.5)))
	if _, err := trainer.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	test := threeClouds(t, 90)
	unlabelled, err := NewData(90, test.columns.Columns[0].Floats, make([]float32, 270))
	if err != nil {
		t.Fatal(err)
	}
	out, err := trainer.Predict(context.Background(), unlabelled)
	if err != nil || len(out) != 270 {
		t.Fatalf("%d values, %v", len(out), err)
	}
	want, err := trainer.Score(context.Background(), test)
	if got := test.score(out); err != nil || got != want || got < 0.98 {
		t.Errorf("predictions are %v right, accuracy is %v, %v", got, want, err)
	}
	if _, err := trainer.group.Predict(context.Background(), unlabelled, 1); err == nil {
		t.Error("run 1 of one predicts")
	}
	if _, err := trainer.group.Result(-1); err == nil {
		t.Error("run -1 has a result")
	}
	if _, err := trainer.Predict(context.Background(), nil); err == nil {
		t.Error("no data are no error")
	}
}

// A progress function that panics stops the runs. The caller that recovers can go on with the group, and close it.
func TestProgressThatPanics(t *testing.T) {
	e := &fakeEngine{}
	g, _ := twoRuns(t, e)
	e.after = func(int) { time.Sleep(polled / 10) } // so that progress is called while the runs take steps
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = g.Train(context.Background(), func([]Progress) { panic("mine") })
	}()
	at := must(g.State(1)).Step()
	if at >= 30 {
		t.Errorf("the runs went on to step %d", at)
	}
	e.after = nil
	if err := g.Train(context.Background(), nil); err != nil || must(g.State(1)).Step() != 30 {
		t.Errorf("the group doesn't go on: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
