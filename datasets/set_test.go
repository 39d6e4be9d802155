package datasets

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// tinySet is a valid set: 3 training and 2 test samples of shape 1x2x2 in 2 classes.
func tinySet() *Set {
	return &Set{
		Name:  "tiny",
		Train: Split{N: 3, SampleShape: []int{1, 2, 2}, Samples: make([]float32, 12), Labels: []int32{0, 1, 1}, Classes: 2},
		Test:  Split{N: 2, SampleShape: []int{1, 2, 2}, Samples: make([]float32, 8), Labels: []int32{1, 0}, Classes: 2},
	}
}

// checkError wants a one-line error that matches kind and holds text.
func checkError(t *testing.T, err, kind error, text string) {
	t.Helper()
	switch {
	case err == nil:
		t.Fatalf("no error, want one with %q", text)
	case !errors.Is(err, kind):
		t.Errorf("error %q does not match %q", err, kind)
	case !strings.Contains(err.Error(), text):
		t.Errorf("error %q, want one with %q", err, text)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("error %q has more than one line", err)
	}
}

func TestCheck(t *testing.T) {
	if err := tinySet().Check(); err != nil {
		t.Fatalf("valid set: %v", err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		name  string
		spoil func(*Set)
		want  string
	}{
		{"NaN", func(s *Set) { s.Train.Samples[9] = nan }, "tiny: training set: sample 2: value 1 is NaN"},
		{"infinity", func(s *Set) { s.Test.Samples[4] = inf }, "tiny: test set: sample 1: value 0 is -Inf"},
		{"label too large", func(s *Set) { s.Train.Labels[1] = 2 }, "tiny: training set: label 1 is 2, want 0 to 1"},
		{"label negative", func(s *Set) { s.Test.Labels[0] = -1 }, "tiny: test set: label 0 is -1, want 0 to 1"},
		{"labels missing", func(s *Set) { s.Train.Labels = s.Train.Labels[:2] }, "training set: 2 labels for 3 samples"},
		{"values missing", func(s *Set) { s.Test.Samples = s.Test.Samples[:7] }, "test set: 7 values for 2 samples of shape [1 2 2], want 8"},
		{"no samples", func(s *Set) { s.Test = Split{SampleShape: []int{1, 2, 2}, Classes: 2} }, "test set: no samples"},
		{"empty axis", func(s *Set) { s.Train.SampleShape = []int{1, 0, 2} }, "sample shape [1 0 2] has an axis of length 0"},
		{"other shape", func(s *Set) { s.Test.SampleShape = []int{1, 4, 1} }, "tiny: test samples have the shape [1 4 1], training samples [1 2 2]"},
		{"other classes", func(s *Set) { s.Test.Classes = 3 }, "tiny: the test set has 3 classes, the training set 2"},
		{"one class", func(s *Set) { s.Train.Classes = 1 }, "training set: 1 classes, want at least 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tinySet()
			c.spoil(s)
			checkError(t, s.Check(), ErrInvalid, c.want)
		})
	}
}

func TestNormalisation(t *testing.T) {
	s := (&Images{N: 2, Shape: []int{1, 1, 2}, Pixels: []byte{0, 255, 51, 102}, Labels: []byte{3, 4}, Classes: 5}).
		split(Normalisation{Mean: []float64{0.2}, Std: []float64{0.4}})
	for i, want := range []float32{-0.5, 2, 0, 0.5} {
		if math.Abs(float64(s.Samples[i]-want)) > 1e-7 {
			t.Errorf("value %d is %v, want %v", i, s.Samples[i], want)
		}
	}
	if s.Labels[0] != 3 || s.Labels[1] != 4 || s.SampleSize() != 2 {
		t.Errorf("labels %v, sample size %d", s.Labels, s.SampleSize())
	}
}

// A nil set, as beside an overlooked error, is invalid.
func TestNoSet(t *testing.T) {
	if err := (*Set)(nil).Check(); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v: want ErrInvalid", err)
	}
}

// A split's values don't depend on the number of goroutines that normalise it.
func TestSplitInParts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000} {
		im := Images{N: n, Shape: []int{2, 3}, Pixels: make([]byte, 6*n), Labels: make([]byte, n), Classes: 2}
		for i := range im.Pixels {
			im.Pixels[i] = byte(i * 7)
		}
		scale := Normalisation{Mean: []float64{0.1, 0.2}, Std: []float64{0.3, 0.4}}
		want := make([]float32, 6*n)
		im.Normalise(want, 0, scale)
		for _, procs := range []int{1, 3, 16} {
			before := runtime.GOMAXPROCS(procs)
			got := im.split(scale).Samples
			runtime.GOMAXPROCS(before)
			if !slices.Equal(got, want) {
				t.Errorf("%d images on %d cores: other values", n, procs)
			}
		}
	}
}
