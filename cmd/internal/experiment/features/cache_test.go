package features_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// cache is a folder for features, and the progress reported about it.
type cache struct {
	t        *testing.T
	folder   string
	computed int // the number of images
	warnings []error
}

func (c *cache) of(x *features.Extractor, images []float32) []float32 {
	c.t.Helper()
	values, err := x.Of(c.t.Context(), inMemory(images), features.Options{
		Cache: c.folder,
		Progress: func(done, total int) {
			if total != len(images)/pixels || done < 1 || done > total {
				c.t.Errorf("progress: %d of %d images", done, total)
			}
			c.computed += total
		},
		Warn: func(err error) { c.warnings = append(c.warnings, err) },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return values
}

// expect checks the number of images computed since the last call, and the number of files, and returns the files'
// names.
func (c *cache) expect(computed, files int) []string {
	c.t.Helper()
	if c.computed != computed {
		c.t.Errorf("computed features of %d images, want %d", c.computed, computed)
	}
	c.computed = 0
	if len(c.warnings) > 0 {
		c.t.Errorf("warned of %v", c.warnings)
	}
	found, err := filepath.Glob(filepath.Join(c.folder, "features", "*"))
	if err != nil {
		c.t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(c.folder, "features", ".*"))
	if err != nil {
		c.t.Fatal(err)
	}
	if len(found) != files || len(hidden) > 0 {
		c.t.Errorf("files %v and %v are kept, want %d", found, hidden, files)
	}
	return found
}

func TestFeaturesAreComputedOnce(t *testing.T) {
	x, c := extractor(t, randomWeights(1)), &cache{t: t, folder: t.TempDir()}
	images := randomImages(1, 2)
	want := c.of(x, images)
	file := c.expect(2, 1)[0]
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the file: %v, %v", info.Mode(), err)
	}
	if got := c.of(x, images); !slices.Equal(got, want) {
		t.Error("what was kept isn't what was computed")
	}
	c.expect(0, 1)
	if got := c.of(extractor(t, randomWeights(1)), images); !slices.Equal(got, want) {
		t.Error("the same network has other features")
	}
	c.expect(0, 1)
}

// The key depends on all that features depend on: weights, images and arithmetic.
func TestOtherFeaturesHaveOtherFiles(t *testing.T) {
	c, images := &cache{t: t, folder: t.TempDir()}, randomImages(1, 1)
	first := c.of(extractor(t, randomWeights(1)), images)
	c.expect(1, 1)

	other := randomWeights(1)
	other["layer3.2.bn2.bias"].Values[63]++
	if got := c.of(extractor(t, other), images); slices.Equal(got, first) {
		t.Error("another bias makes no difference")
	}
	c.expect(1, 2)

	// A weight on which features don't depend is a weight nevertheless.
	other = randomWeights(1)
	other["fc.bias"].Values[0]++
	c.of(extractor(t, other), images)
	c.expect(1, 3)

	changed := slices.Clone(images)
	changed[len(changed)-1]++
	c.of(extractor(t, randomWeights(1)), changed)
	c.expect(1, 4)

	x, err := features.New(renamed{cpu.New(cpu.Options{})}, randomWeights(1))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	c.of(x, images)
	c.expect(1, 5)
}

// renamed is an engine with another name for its arithmetic.
type renamed struct{ engine.Engine }

func (r renamed) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := r.Engine.Load(p, d)
	return otherArithmetic{l}, err
}

type otherArithmetic struct{ engine.Loaded }

func (otherArithmetic) Arithmetic() string { return "another" }

// A damaged file counts as missing, and the right one replaces it.
func TestDamagedFilesAreReplaced(t *testing.T) {
	x, c := extractor(t, randomWeights(1)), &cache{t: t, folder: t.TempDir()}
	images := randomImages(1, 1)
	want := c.of(x, images)
	file := c.expect(1, 1)[0]
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte {
		bad := slices.Clone(good)
		bad[at] ^= 1
		return bad
	}
	for name, bad := range map[string][]byte{
		"empty":            nil,
		"cut short":        good[:len(good)-1],
		"too long":         append(slices.Clone(good), 0),
		"changed checksum": changed(0),
		"changed value":    changed(len(good) - 1),
	} {
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := c.of(x, images); !slices.Equal(got, want) {
			t.Errorf("%s: other features", name)
		}
		c.expect(1, 1)
		if now, err := os.ReadFile(file); err != nil || !slices.Equal(now, good) {
			t.Errorf("%s: the file wasn't replaced: %v", name, err)
		}
	}
}

// A cancelled context leaves nothing behind, whether images are being hashed or computed.
func TestCancelledExtraction(t *testing.T) {
	x, c := extractor(t, randomWeights(1)), &cache{t: t, folder: t.TempDir()}
	values := randomImages(1, 1)
	for last := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		images, reads := inMemory(values), 0
		read := images.Read
		images.Read = func(dst []float32, first int) {
			if reads == last {
				cancel()
			}
			reads++
			read(dst, first)
		}
		got, err := x.Of(ctx, images, features.Options{Cache: c.folder})
		if !errors.Is(err, context.Canceled) || got != nil || reads != last+1 {
			t.Errorf("cancelled at read %d: %d features after %d reads, %v", last, len(got), reads, err)
		}
		c.expect(0, 0)
	}
}

// Pieces make up the whole, in order; the last one is shorter.
func TestPieces(t *testing.T) {
	x, c := extractor(t, randomWeights(1)), &cache{t: t, folder: t.TempDir()}
	images := randomImages(1, 5)
	want := c.of(x, images)
	features.InPiecesOf(t, 2)
	c.folder, c.computed = t.TempDir(), 0
	if got := c.of(x, images); !slices.Equal(got, want) {
		t.Error("other pieces make other features")
	}
	c.expect(15, 1) // 5 in all, reported three times
}

func TestFeaturesWithoutACache(t *testing.T) {
	x, images := extractor(t, randomWeights(1)), randomImages(1, 1)
	folder := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var warnings []error
	values, err := x.Of(t.Context(), inMemory(images), features.Options{Cache: folder, Warn: func(err error) { warnings = append(warnings, err) }})
	if err != nil || len(values) != features.Size {
		t.Errorf("%d features, %v", len(values), err)
	}
	var path *fs.PathError
	if len(warnings) == 0 || !errors.As(errors.Join(warnings...), &path) {
		t.Errorf("warned of %v", warnings)
	}
	if _, err := x.Of(t.Context(), inMemory(images), features.Options{Cache: folder}); err != nil {
		t.Errorf("without anybody to warn: %v", err)
	}
}

// Two extractions at once see whole files, and both get their features.
func TestTwoAtOnce(t *testing.T) {
	folder, images := t.TempDir(), randomImages(1, 2)
	var wait sync.WaitGroup
	for range 2 {
		x := extractor(t, randomWeights(1))
		wait.Go(func() {
			for range 5 {
				values, err := x.Of(t.Context(), inMemory(images), features.Options{Cache: folder, Warn: func(err error) { t.Error(err) }})
				if err != nil || len(values) != 2*features.Size {
					t.Errorf("%d values, %v", len(values), err)
				}
				files, err := filepath.Glob(filepath.Join(folder, "features", "*"))
				if err != nil {
					t.Error(err)
				}
				for _, f := range files { // so that both compute and write them again
					if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestExtractorRefuses(t *testing.T) {
	w := randomWeights(1)
	delete(w, "layer2.0.downsample.1.running_var")
	var wrong *networks.WeightsError
	if _, err := features.New(cpu.New(cpu.Options{}), w); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "layer2.0.downsample.1.running_var is missing") {
		t.Errorf("a tensor is missing: %v", err)
	}
	x := extractor(t, randomWeights(1))
	broken := randomImages(1, 2)
	broken[len(broken)-1] = float32(math.NaN())
	var data *train.DataError
	if _, err := x.Of(t.Context(), inMemory(broken), features.Options{Cache: t.TempDir()}); !errors.As(err, &data) || !strings.HasPrefix(err.Error(), "images from number 0 on: ") {
		t.Errorf("an image with NaN: %v", err)
	}
	if values, err := x.Of(t.Context(), features.Images{}, features.Options{Cache: t.TempDir()}); err != nil || len(values) != 0 {
		t.Errorf("no images: %d values, %v", len(values), err)
	}
}
