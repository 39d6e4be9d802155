package experiment

import (
	"os"
	"path/filepath"
	"testing"
)

// A run knows its training file by the name, wherever it was moved, and by the file itself, whatever its name is now.
func TestTrainedOn(t *testing.T) {
	dir := t.TempDir()
	train := filepath.Join(dir, "private.csv")
	for path, text := range map[string]string{
		"private.csv": "x,y\n1,a\n", "moved/private.csv": "x,y\n1,a\n", "other.csv": "x,y\n1,a\n", "run/private/settings.yaml": "data: {train: " + train + ", test: t.csv, label: y}\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(train, filepath.Join(dir, "linked.csv")); err != nil {
		t.Skip(err)
	}
	for file, want := range map[string]bool{"private.csv": true, "moved/private.csv": true, "linked.csv": true, "other.csv": false} {
		if got := TrainedOn(filepath.Join(dir, "run"), filepath.Join(dir, file)); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
	if TrainedOn(filepath.Join(dir, "elsewhere"), train) {
		t.Error("a run without its private folder knows what it was trained on")
	}
}
