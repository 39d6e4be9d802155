package execution

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/cuda"
)

// Data sets with a name are read beside accounting, and files of one's own once all that is public is printed.
func TestOwnFilesAreReadLater(t *testing.T) {
	for dataset, early := range map[string]bool{"glyphs": true, settings.Files: false} {
		none := engines.GPUs{List: func() ([]cuda.Info, error) { return nil, cuda.ErrNoDevice }}
		p := &experiment.Plan{Experiment: settings.Experiment{Dataset: dataset}}
		r := begin(t.Context(), ui.NewOn(io.Discard, ui.Screen{}, logrus.InfoLevel), p, Options{GPUs: none})
		if (r.data != nil) != early {
			t.Errorf("%s: read at once: %t", dataset, !early)
		}
		r.end(t.Context())
	}
}

// A state that can't be saved, not even in the space that was reserved, is an error.
func TestStatesThatCannotBeSaved(t *testing.T) {
	folder, err := runs.Create(filepath.Join(t.TempDir(), "run"), false, runs.Manifest{}, runs.Record{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(folder.Dir(), "private", "state")
	// No file can be made in a file.
	if err := errors.Join(os.Remove(state), os.WriteFile(state, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := (keptStates{folder: folder}).Save("state-1", nil); err == nil {
		t.Error("no error")
	}
}
