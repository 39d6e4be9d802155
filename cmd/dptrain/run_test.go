package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
)

// fullDisk takes no bytes.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// A run whose plan can't be printed leaves nothing behind, hidden or not.
func TestUnprintedPlanLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	var complaints strings.Builder
	args := []string{"train", "--accounting", "paper", "--epochs", "1", "--out", filepath.Join(dir, "run")}
	if code := execute(t.Context(), args, fullDisk{}, &complaints, false); code != term.CodeInput || !strings.Contains(complaints.String(), "no space") {
		t.Errorf("exit code %d, %s", code, complaints.String())
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A terminal shows the trials, and --verbose shows them elsewhere. Others learn once that some failed.
func TestWhoWatches(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		flags    []string
		watched  bool
	}{{false, nil, false}, {true, nil, true}, {false, []string{"--verbose"}, true}} {
		b := newBox(hopper)
		b.steps = func() error { return errors.New("enough") }
		args, _ := short(t, "tune", append([]string{"--mu", "9"}, c.flags...)...)
		var stderr strings.Builder
		g := newGlobal(b.gpus(), &term.Output{To: io.Discard}, &stderr, ui.Screen{Terminal: c.terminal})
		if code := g.execute(t.Context(), args); code != term.CodeInternal {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if failed := strings.Count(stderr.String(), "warning: a trial failed"); failed == 0 || failed > 1 != c.watched {
			t.Errorf("terminal %t, %v: %d failed trials are shown", c.terminal, c.flags, failed)
		}
	}
}
