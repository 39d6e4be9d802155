package datasets

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

func openGlyphs(t testing.TB) *Set {
	t.Helper()
	set, err := Open(t.Context(), "glyphs", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The recorded checksum was made with Go 1.26 on linux/amd64. GOAMD64=v3, where the compiler may fuse
// products with sums, and GOARCH=386 give the same.
func TestGlyphsChecksum(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	for _, workers := range []int{1, 3} {
		before := runtime.GOMAXPROCS(workers)
		files, err := Verify(t.Context(), "glyphs", Options{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 || files[0].State != OK {
			t.Errorf("%d workers: %+v", workers, files)
		}
	}
}

func TestGlyphsShape(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	set := openGlyphs(t)
	for _, part := range []struct {
		split *Split
		n     int
	}{{&set.Train, 12_000}, {&set.Test, 2_000}} {
		if part.split.N != part.n || part.split.SampleSize() != 28*28 {
			t.Errorf("%d samples of shape %v", part.split.N, part.split.SampleShape)
		}
		counts := make([]int, 10)
		inPlace := 0
		for i, l := range part.split.Labels {
			counts[l]++
			if int(l) == i%10 {
				inPlace++
			}
		}
		for digit, c := range counts {
			if c != part.n/10 {
				t.Errorf("digit %d: %d of %d images", digit, c, part.n)
			}
		}
		// A shuffle leaves a tenth in place; a fifth is more than 25 standard deviations off.
		if inPlace > part.n/5 {
			t.Errorf("%d of %d labels are in the order of counting", inPlace, part.n)
		}
	}
}

// The constants are the rounded moments of the training images, so the samples have mean 0 and
// standard deviation 1.
func TestGlyphsNormalisation(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	train := openGlyphs(t).Train
	var sum, squares float64
	for _, x := range train.Samples {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	n := float64(len(train.Samples))
	mean := sum / n
	if std := math.Sqrt(squares/n - mean*mean); math.Abs(mean) > 1e-3 || math.Abs(std-1) > 1e-3 {
		t.Errorf("mean %v, standard deviation %v", mean, std)
	}
}

func TestGlyphsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, "glyphs", Options{})
	checkError(t, err, context.Canceled, "glyphs: ")
}

// A wrong file in the cache is neither used nor kept, and a cache that can't be written to is no matter.
func TestGlyphsCache(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	cache := t.TempDir()
	kept := filepath.Join(cache, "glyphs", "rendered")
	load := func(situation string) []byte {
		raw, err := OpenRaw(t.Context(), "glyphs", Options{Cache: cache})
		if err != nil {
			t.Fatalf("%s: %v", situation, err)
		}
		content := slices.Concat(raw.Train.Pixels, raw.Train.Labels, raw.Test.Pixels, raw.Test.Labels)
		if got := glyphsSum(content); got != glyphsSHA256 {
			t.Errorf("%s: images with the checksum %s", situation, got)
		}
		return content
	}
	writeFiles(t, cache, map[string][]byte{"glyphs": nil})
	drawn := load("a file in place of the folder")
	if err := errors.Join(os.Remove(filepath.Dir(kept)), os.Mkdir(filepath.Dir(kept), 0o755)); err != nil {
		t.Fatal(err)
	}
	poisoned := slices.Clone(drawn)
	poisoned[len(poisoned)/2] ^= 1
	for situation, content := range map[string][]byte{"poisoned": poisoned, "truncated": drawn[:len(drawn)-1]} {
		writeFiles(t, filepath.Dir(kept), map[string][]byte{"rendered": content})
		load(situation)
		if after, err := os.ReadFile(kept); err != nil || !bytes.Equal(after, drawn) {
			t.Errorf("%s: the cache holds %d bytes after a load, want the set's %d: %v", situation, len(after), len(drawn), err)
		}
	}
	before, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	load("kept")
	if after, err := os.Stat(kept); err != nil || !os.SameFile(before, after) {
		t.Errorf("the set was drawn and written again: %v", err)
	}
}
