package report

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree lists everything under a directory with its permissions.
func tree(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		found[rel] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDirAppearsWhole(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "a", "run")
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WriteRelease(example()); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePrivateJSON("trials.json", []int{1}); err != nil {
		t.Fatal(err)
	}
	log, err := d.Log()
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Publish: %v, want nothing there", err)
	}
	if err := d.Publish(); err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{
		"a": 0o755, "a/run": 0o755, "a/run/private": 0o700, "a/run/released": 0o755,
		"a/run/private/log.txt": 0o600, "a/run/private/trials.json": 0o600,
		"a/run/released/STATEMENT.md": 0o644, "a/run/released/hyperparameters.json": 0o644,
		"a/run/released/model.json":        0o644,
		"a/run/released/model.safetensors": 0o644, "a/run/released/privacy.json": 0o644,
	}
	if diff := cmp.Diff(want, tree(t, parent)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The time that a run took says about how many trials there were.
func TestReleasedFilesTellNoTime(t *testing.T) {
	d, err := Create(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	// East of Greenwich that day begins earlier: the zone must not show either.
	d.began = time.Date(2024, 3, 2, 1, 30, 15, 500, time.FixedZone("", 2*60*60))
	if err := d.WriteRelease(example()); err != nil {
		t.Fatal(err)
	}
	if err := d.Publish(); err != nil {
		t.Fatal(err)
	}
	released := filepath.Join(d.Path(), "released")
	names := append(slices.Collect(maps.Keys(tree(t, released))), ".")
	if len(names) != 6 {
		t.Fatalf("released: %v", names)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(released, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC); !info.ModTime().Equal(want) {
			t.Errorf("%s is of %v, want %v", name, info.ModTime().UTC(), want)
		}
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	d, err := Create(filepath.Join(parent, "runs", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WriteRelease(example()); err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, parent); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCreateRefuses(t *testing.T) {
	used := t.TempDir()
	if _, err := Create(used); !errors.Is(err, ErrExists) {
		t.Errorf("existing directory: %v, want ErrExists", err)
	}
	file := filepath.Join(used, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "run")); err == nil {
		t.Error("below a file: no error")
	}
	if left := tree(t, used); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// Whoever takes the place while a run trains doesn't cost it its result, nor is overwritten.
func TestPublishBesideWhatCameMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	var paths []string
	var dirs []*Dir
	for range 3 {
		d, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, d)
	}
	for i, d := range dirs {
		if err := d.WritePrivate("who", []byte{byte('0' + i)}); err != nil {
			t.Fatal(err)
		}
		if err := d.Publish(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, d.Path())
	}
	for i, want := range []string{path, path + "-2", path + "-3"} {
		who, err := os.ReadFile(filepath.Join(want, "private", "who"))
		if err != nil || paths[i] != want || string(who) != string(rune('0'+i)) {
			t.Errorf("run %d is at %s and holds %q (%v), want it at %s", i, paths[i], who, err, want)
		}
	}
}
