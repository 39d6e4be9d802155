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
	if err := Check(dir, "lines"); err != nil {
		t.Fatal(err)
	}
	files, err := Encode(paperLines(t))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := Write(dir, "lines", files)
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
	if err := Check(dir, "bounds"); err != nil {
		t.Error(err)
	}
	if err := Check(dir, "lines"); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
}

func TestOneOldFileIsEnoughToRefuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lines.svg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir, "lines"); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
}

func TestCheckFailsWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "figures")} {
		if err := Check(dir, "lines"); err == nil {
			t.Errorf("%s can't be a directory", dir)
		}
	}
}
