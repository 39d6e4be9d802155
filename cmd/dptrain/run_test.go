package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
)

// fullDisk takes no bytes.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// A run whose plan can't be printed leaves nothing behind, hidden or not.
func TestUnprintedPlanLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	var complaints strings.Builder
	args := []string{"train", "--dataset", "mnist", "--accounting", "paper", "--epochs", "1", "--out", filepath.Join(dir, "run")}
	if code := execute(t.Context(), args, fullDisk{}, &complaints, false); code != codeInput || !strings.Contains(complaints.String(), "no space") {
		t.Errorf("exit code %d, %s", code, complaints.String())
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A terminal shows the trials, and --verbose shows them elsewhere.
func TestWhoWatches(t *testing.T) {
	rows := "a,y\n" + strings.Repeat("1,no\n2,yes\n", 20)
	e := experiment(t, "data.train="+file(t, rows), "data.test="+file(t, "a,y\n3,no\n4,yes\n"), "data.label=y", "privacy.noise_multiplier=3")
	size, err := sizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	_, privacy, err := planTraining(e, size.train)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ terminal, verbose, want bool }{{false, false, false}, {true, false, true}, {false, true, true}} {
		began, enough := false, errors.New("enough")
		g := &global{stdout: &checkedWriter{to: io.Discard}, stderr: io.Discard, terminal: c.terminal, verbose: c.verbose, gpus: nvidia}
		o := runOptions{out: filepath.Join(t.TempDir(), "run")}
		err := o.carryOut(t.Context(), g, plan{experiment: e, size: size, privacy: privacy}, func(_ context.Context, r *run, _ teller) (trained, error) {
			if began = true; r.watched != c.want {
				t.Errorf("terminal %t, --verbose %t: watched %t", c.terminal, c.verbose, r.watched)
			}
			return trained{}, enough
		})
		if !began || !errors.Is(err, enough) {
			t.Fatal(err)
		}
	}
}

// Noise is called the smallest only where the guarantee comes close to what was asked for, of one kind of runs and of
// several.
func TestSmallestNoise(t *testing.T) {
	epsilon := 8.0
	p := configs.Privacy{Epsilon: &epsilon}
	several := &report.Tuning{Space: report.Space{Runs: []report.Run{{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2}, {SamplingRate: 0.2, Steps: 10, NoiseMultiplier: 3}}}}
	one := &report.Tuning{Space: report.Space{Runs: several.Space.Runs[:1]}}
	for _, c := range []struct {
		met  float64
		want [2]string
	}{
		{8, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.993, [2]string{"the smallest that meets epsilon 8", "the smallest that meet epsilon 8"}},
		{7.99, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
		{3, [2]string{", which meets epsilon 8", ", which meet epsilon 8"}},
	} {
		stated := report.Privacy{Epsilon: c.met, Tuning: one}
		stated.NoiseMultiplier = 2
		if got := noiseRows(p, stated)[0][1]; !strings.HasSuffix(got, c.want[0]) {
			t.Errorf("epsilon %v, one kind of runs: %q, want %q", c.met, got, c.want[0])
		}
		if got := noiseRows(p, report.Privacy{Epsilon: c.met, Tuning: several}); len(got) != 3 || !strings.HasSuffix(got[0][1], c.want[1]) {
			t.Errorf("epsilon %v, two kinds of runs: %q, want %q", c.met, got, c.want[1])
		}
	}
}
