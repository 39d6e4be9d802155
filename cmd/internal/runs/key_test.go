package runs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run whose training has begun never gets another key: that would be a second release under the first one's name.
func TestALostKeyIsNotReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("k")), r.Train(), r.Stop("why"), os.Remove(filepath.Join(dir, "private", "key")))
	again, err := Resume(dir)
	must(t, err)
	if key, err := again.Key(); !errors.Is(err, ErrNoKey) {
		t.Errorf("key %q, %v", key, err)
	}
}

// Two copies of a folder without a key are two runs once they have keys.
func TestCopiesWithoutAKeyAreOtherRuns(t *testing.T) {
	store := t.TempDir()
	first, second := filepath.Join(store, "first"), filepath.Join(store, "second")
	r := create(t, first)
	ids := []string{r.Record.ID}
	must(t, r.Release(), os.CopyFS(second, os.DirFS(first)))
	for _, dir := range []string{first, second} {
		again, err := Resume(dir)
		must(t, err)
		must(t, again.KeepKey([]byte("k")), again.Stop("why"))
		third, err := Resume(dir)
		must(t, err)
		if third.Record.ID != again.Record.ID {
			t.Errorf("with a key its id changed from %s to %s", again.Record.ID, third.Record.ID)
		}
		ids = append(ids, third.Record.ID)
		must(t, third.Release())
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 3 {
		t.Errorf("ids %q", ids)
	}
}

// An end that can't remove the states has destroyed the key: the run stays finished.
func TestAnEndThatCannotSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("k")), r.Train())
	// A folder with content in place of the lock can't be removed.
	must(t, r.Release(), os.Remove(filepath.Join(dir, "private", "lock")), os.MkdirAll(filepath.Join(dir, "private", "lock", "x"), 0o700))
	if err := r.Finish([]byte("{}"), release); err == nil {
		t.Fatal("no error")
	}
	if i, err := Open(dir); r.Manifest.Stage != Finished || err != nil || i.Stage != Finished {
		t.Errorf("stage %s, and on the disk %s, %v", r.Manifest.Stage, i.Stage, err)
	}
}

// An end that fails before the key is touched leaves the run where it was.
func TestAnEndThatCannotBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("k")), r.Train())
	record := filepath.Join(dir, "private", "record.json")
	must(t, os.Remove(record), os.MkdirAll(filepath.Join(record, "x"), 0o700)) // a file can't replace it
	if err := r.Finish([]byte("{}"), release); err == nil {
		t.Fatal("no error")
	}
	if r.Manifest.Stage != Training || !exists(filepath.Join(dir, "private", "key")) {
		t.Errorf("stage %s", r.Manifest.Stage)
	}
}

// A link in place of the key is removed, and its target isn't touched.
func TestALinkIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "key")
	must(t, os.WriteFile(other, []byte("precious"), 0o600))
	if err := os.Symlink(other, link); err != nil {
		t.Skip(err)
	}
	must(t, RemoveLeftover(link))
	if text, err := os.ReadFile(other); string(text) != "precious" || err != nil || exists(link) {
		t.Errorf("%q, %v; the link is there: %t", text, err, exists(link))
	}
}

// Foreign folders are no leftovers, with any names.
func TestFoldersOfOthersStay(t *testing.T) {
	store := t.TempDir()
	for _, path := range []string{".partial-12/x", ".x.partial-uploads/x", ".x.partial-12/thesis.txt", "x.partial-12/private"} {
		must(t, os.MkdirAll(filepath.Join(store, path), 0o700))
	}
	if left, err := Leftovers(store); len(left) > 0 || err != nil {
		t.Errorf("left %q, %v", left, err)
	}
	for _, path := range []string{".x.partial-0af", ".x.partial-1/private", ".x.partial-2/run.json", ".x.partial-3/.new-4"} {
		must(t, os.MkdirAll(filepath.Join(store, path), 0o700))
	}
	if left, err := Leftovers(store); len(left) != 4 || err != nil {
		t.Errorf("left %q, %v", left, err)
	}
}

// No run is made inside another: the released folder must hold nothing private, and a run that ends replaces it.
func TestNoRunInsideOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.Finish([]byte("{}"), release))
	before := tree(t, dir)
	for _, path := range []string{"x", "released/x", "private/state/deep/x"} {
		if inner, err := Create(filepath.Join(dir, path), false, Manifest{}, Record{}, nil); err == nil {
			t.Errorf("a run is in %s", inner.Dir())
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}
