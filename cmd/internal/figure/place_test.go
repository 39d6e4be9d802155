package figure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteMakesAllFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "paper", "figures")
	place, err := Reserve(dir, "lines")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Encode(paperLines(t))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := place.Write(files)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"lines.csv", "lines.pdf", "lines.png", "lines.svg"}
	if got := entries(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for i, name := range want {
		if paths[i] != filepath.Join(dir, name) {
			t.Errorf("path %s, want %s in %s", paths[i], name, dir)
		}
	}
	// Another figure can be written beside it; the same one can't.
	if _, err := Reserve(dir, "bounds"); err != nil {
		t.Error(err)
	}
	if _, err := Reserve(dir, "lines"); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
}

func TestOneOldFileIsEnoughToRefuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lines.svg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(dir, "lines"); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
}

func TestReserveFailsWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "figures")} {
		if _, err := Reserve(dir, "lines"); err == nil {
			t.Errorf("%s can't be a directory", dir)
		}
	}
}

func TestDiscardLeavesOthersAlone(t *testing.T) {
	root := t.TempDir()
	for name, wantGone := range map[string]bool{"made": true, "theirs": false} {
		dir := filepath.Join(root, name)
		if !wantGone {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		place, err := Reserve(dir, "lines")
		if err != nil {
			t.Fatal(err)
		}
		if found := entries(t, dir); len(found) > 0 {
			t.Errorf("%s: reserving left %v", name, found)
		}
		place.Discard()
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) != wantGone {
			t.Errorf("%s: %v", name, err)
		}
	}
}
