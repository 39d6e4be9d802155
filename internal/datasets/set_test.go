package datasets

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// checkError checks that err is one line, matches kind and contains text.
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
