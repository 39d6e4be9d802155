package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// heldOutRuns starts a run for each given change of settings. Its members leave out samples 4 and 7, which are held out
// with much noise. All runs begin with the same values.
func heldOutRuns(t *testing.T, changes ...func(*Settings)) (*Group, *HeldOut) {
	t.Helper()
	data := threeClouds(t, 60)
	l, err := Load(&fakeEngine{}, logistic(t, rand.NewPCG(3, 4)), data.Data)
	if err != nil {
		t.Fatal(err)
	}
	var all []Settings
	for _, change := range changes {
		s := settings()
		s.Initial = [][]float32{make([]float32, 6), make([]float32, 3)}
		s.Members = slices.DeleteFunc(upTo(60), func(i int32) bool { return i == 4 || i == 7 })
		change(&s)
		all = append(all, s)
	}
	g, err := l.Start(all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g, holdOut(t, data, 1e6, 4, 7)
}

// The noise of a score follows from the run's key, from all that decides the run's course and from its number of steps,
// but not from its position among the runs that are scored together.
func TestNoiseOfScoresIsEachRunsOwn(t *testing.T) {
	g, h := heldOutRuns(t, func(*Settings) {}, func(s *Settings) { s.Key = InsecureKey(8) }, func(s *Settings) { s.Trial++ }, func(s *Settings) { s.Members = s.Members[1:] })
	seen := map[uint64]bool{}
	drawn := func(when string) {
		for i := range g.settings {
			word := g.scoreNoise(h, i).Uint64()
			if seen[word] {
				t.Errorf("run %d has the noise of another score %s", i, when)
			}
			seen[word] = true
		}
	}
	drawn("before its first step")
	scores, err := g.Score(context.Background(), h, 0, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	backwards, err := g.Score(context.Background(), h, 3, 2, 1, 0)
	if slices.Reverse(backwards); err != nil || !slices.Equal(scores, backwards) {
		t.Errorf("scores %v, and in another order %v, %v", scores, backwards, err)
	}
	slices.Sort(scores)
	if len(slices.Compact(scores)) != 4 { // the runs' models are still the same
		t.Errorf("runs share noise: %v", scores)
	}
	if err := g.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	drawn("after its last step")
}

// A run that trains on a held-out sample is refused at any position.
func TestEveryScoredRunLeavesOutTheHeldOut(t *testing.T) {
	g, h := heldOutRuns(t, func(*Settings) {}, func(s *Settings) { s.Members = []int32{3, 7} }, func(s *Settings) { s.Members = []int32{3, 4} })
	var wrong *SettingError
	for _, runs := range [][]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}} {
		if scores, err := g.Score(context.Background(), h, runs...); !errors.As(err, &wrong) {
			t.Errorf("runs %v have scores %v, %v", runs, scores, err)
		}
	}
	if _, err := g.Score(context.Background(), h, 0); err != nil {
		t.Error(err)
	}
}

// Two models released with one key have different noise, even if they predict the same.
func TestReleasesOfAKeyHaveNoiseEach(t *testing.T) {
	h := holdOut(t, classesOf(t, make([]int32, 400)...), 7, 3)
	a, err := h.Release([]float32{1, 0, 0}, 400, Key{1})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := h.Release([]float32{2, 0, 0}, 400, Key{1}); err != nil || a.Score == b.Score {
		t.Errorf("two models have score %v, %v", a.Score, err)
	}
}

// An output that isn't a number counts like the largest error, in a sum too: any other count would move it by more than
// one sample may.
func TestOutputsThatAreNoNumbersCount(t *testing.T) {
	numbers, err := NewRegression([]float32{1, 2}, []float32{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	h := holdOut(t, numbers, quiet, 0, 1)
	for _, wrong := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30} {
		if got := h.sum([]float32{0, float32(wrong)}); got != 0 {
			t.Errorf("errors of 0 and %v count %v, want 1/2 - 1/2", wrong, got)
		}
	}
}

// The constant answer is the held-out samples' largest class: other samples' labels don't show in it, nor does the
// score. All three are right, two of them in one class; the nominal size is 4.
func TestConstantOfHeldOut(t *testing.T) {
	h := holdOut(t, classesOf(t, 0, 0, 0, 0, 1, 2, 1), quiet, 4, 5, 6)
	r, err := h.Release([]float32{0, 1, 0, 0, 0, 1, 0, 1, 0}, 16, Key{1})
	if err != nil || r.Score != 0.5+1.5/4 || r.Constant != 2./4 {
		t.Errorf("released %+v, %v; want score 0.875 and constant 0.5", r, err)
	}
}

// If the answer 0 is always right, R² stays finite. The nominal size is 1: the deviation of the draw is 1/2.
func TestR2OfHeldOutWithoutVariance(t *testing.T) {
	numbers, err := NewRegression([]float32{1, 2}, []float32{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	r, err := holdOut(t, numbers, quiet, 0, 1).Release([]float32{0, 0}, 4, Key{1})
	if err != nil || r.Score != 1 || math.Abs(r.Interval[0]-(1-1.96/2)) > 1e-9 || r.Interval[1] != 1 {
		t.Errorf("released %+v, %v; want score 1 and interval 0.02 to 1", r, err)
	}
}

// A caller's later changes of its list of rows don't change which run is refused.
func TestHeldOutOwnsItsRows(t *testing.T) {
	set, rows := classesOf(t, 0, 1, 2), []int32{1}
	h := holdOut(t, set, 1, rows...)
	rows[0] = 2
	if h.checkRun(set.Digest(), []int32{0, 1}) == nil || h.checkRun(set.Digest(), []int32{0, 2}) != nil {
		t.Error("a list that was given is used later")
	}
}
