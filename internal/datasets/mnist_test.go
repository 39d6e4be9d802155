package datasets

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

func skipWithout(t testing.TB, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(os.Getenv(DirVariable), name)); os.Getenv(DirVariable) == "" || err != nil {
		t.Skipf("needs the folder %s in $%s", name, DirVariable)
	}
}

// openFiles opens a set with files below DPTRAIN_DATA.
func openFiles(t testing.TB, name string) *Set {
	t.Helper()
	skipWithout(t, name)
	set, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The sets' own pages and torchvision show the first labels. The moments are the normalisation's constants, which are
// published with four digits.
func TestPublishedSets(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	for _, c := range []struct {
		name        string
		train, test []int32
	}{
		{"mnist", []int32{5, 0, 4, 1, 9, 2, 1, 3}, []int32{7, 2, 1, 0, 4, 1, 4, 9}},
		{"fashion-mnist", []int32{9, 0, 0, 3, 0, 2, 7, 2}, []int32{9, 2, 1, 1, 6, 1, 4, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := openFiles(t, c.name)
			if set.Train.N != 60_000 || set.Test.N != 10_000 || !slices.Equal(set.Train.SampleShape, []int{1, 28, 28}) {
				t.Errorf("%d training and %d test samples of shape %v", set.Train.N, set.Test.N, set.Train.SampleShape)
			}
			if !slices.Equal(set.Train.Labels[:8], c.train) || !slices.Equal(set.Test.Labels[:8], c.test) {
				t.Errorf("first labels %v and %v, want %v and %v", set.Train.Labels[:8], set.Test.Labels[:8], c.train, c.test)
			}
			var sum, squares float64
			for _, x := range set.Train.Samples {
				sum += float64(x)
				squares += float64(x) * float64(x)
			}
			n := float64(len(set.Train.Samples))
			mean := sum / n
			if std := math.Sqrt(squares/n - mean*mean); math.Abs(mean) > 3e-4 || math.Abs(std-1) > 3e-4 {
				t.Errorf("normalised mean %v, standard deviation %v", mean, std)
			}

			files, err := Verify(t.Context(), c.name, Options{})
			if err != nil || len(files) != 4 {
				t.Errorf("%d files, error %v", len(files), err)
			}
			for _, f := range files {
				if f.State != OK {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func BenchmarkOpenMNIST(b *testing.B) {
	for b.Loop() {
		openFiles(b, "mnist")
	}
}
