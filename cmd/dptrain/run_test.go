package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// fullDisk takes no bytes.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// A run whose plan can't be printed leaves nothing behind, hidden or not.
func TestUnprintedPlanLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	var complaints strings.Builder
	args := []string{"train", "--accounting", "paper", "--epochs", "1", "--out", filepath.Join(dir, "run")}
	if code := execute(t.Context(), args, fullDisk{}, &complaints, false); code != codeInput || !strings.Contains(complaints.String(), "no space") {
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
		g := &global{gpus: b.gpus(), stdout: &checkedWriter{to: io.Discard}, stderr: &stderr, terminal: c.terminal}
		if code := g.execute(t.Context(), args); code != codeInternal {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if failed := strings.Count(stderr.String(), "warning: a trial failed"); failed == 0 || failed > 1 != c.watched {
			t.Errorf("terminal %t, %v: %d failed trials are shown", c.terminal, c.flags, failed)
		}
	}
}

// Noise is called the smallest only where the guarantee comes close to what was asked for, of one kind of runs and of
// several.
func TestSmallestNoise(t *testing.T) {
	epsilon := 8.0
	p := settings.Privacy{Epsilon: &epsilon}
	several := &release.Tuning{Space: release.Space{Runs: []tuner.Run{{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2}, {SamplingRate: 0.2, Steps: 10, NoiseMultiplier: 3}}}}
	one := &release.Tuning{Space: release.Space{Runs: several.Space.Runs[:1]}}
	for _, c := range []struct {
		met  float64
		want [2]string
	}{
		{8, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.993, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.99, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
		{3, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
	} {
		stated := release.Privacy{Epsilon: c.met, Tuning: one}
		stated.NoiseMultiplier = 2
		if got := noiseRows(p, stated)[0][1]; !strings.HasSuffix(got, c.want[0]) {
			t.Errorf("epsilon %v, one kind of runs: %q, want %q", c.met, got, c.want[0])
		}
		if got := noiseRows(p, release.Privacy{Epsilon: c.met, Tuning: several}); len(got) != 3 || !strings.HasSuffix(got[0][1], c.want[1]) {
			t.Errorf("epsilon %v, two kinds of runs: %q, want %q", c.met, got, c.want[1])
		}
	}
}

// No probability is above 1, however many of them are added.
func TestAddsUp(t *testing.T) {
	const want = "whatever else is made from the same data adds to this; two runs like this one: epsilon 6 at delta 1"
	if got := addsUp(release.Privacy{Epsilon: 3, Delta: 0.75}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := addsUp(release.Privacy{Epsilon: 3, Delta: 0.75, Insecure: true}); strings.ContainsAny(got, "0123456789") {
		t.Errorf("a void guarantee: %s", got)
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
	if err := (keptStates{&run{folder: folder}}).Save("state-1", nil); err == nil {
		t.Error("no error")
	}
}
