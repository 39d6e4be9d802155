//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

// smallDisk mounts a disk in memory, for root.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all space that is left on a disk, and returns the file that holds it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return ""
	}
	defer file.Close()
	for size := 1 << 16; size > 0; size /= 2 {
		for {
			if _, err := file.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	return file.Name()
}

// A disk that is too small, or full when a run has reached some point, stops the run with one error, and nothing that
// was paid for is lost: with space again it goes on, and ends in the bytes that it releases on a large disk.
func TestFullDisk(t *testing.T) {
	args := strings.Fields("tune --model mlp:16 --variant 2 --mu 4 --epochs 100 --insecure-seed 5 --accounting paper --save-every 1ms --quiet --out run" + ownRows)
	whole := newScene(t, args)
	writeRows(t, whole)
	if out, err := whole.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprint(contents(t, filepath.Join(whole.Dir, "run", "released")))
	places := []string{"", "run/run.json", "run/private/state/state-1", "run/private/state/outcomes", "run/private/run.json"}
	if *lives > 1 {
		places = append([]string{"", "run/private/state/state-3", "run/private/state/trace-0"}, points...)
	}
	for _, point := range places {
		t.Run(point, func(t *testing.T) {
			s := newScene(t, args)
			s.Dir = smallDisk(t, 8<<20)
			writeRows(t, s)
			var filler string
			if point == "" {
				filler = fill(t, s.Dir)
			}
			var said strings.Builder
			s.Stdout, s.Stderr = io.Discard, &said
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Wait() }()
			for filler == "" && len(ended) == 0 {
				if exists(filepath.Join(s.Dir, point)) {
					filler = fill(t, s.Dir)
				}
				time.Sleep(20 * time.Microsecond)
			}
			err := <-ended
			if lines := strings.Count(said.String(), "dptrain: "); err != nil && (lines != 1 || !strings.Contains(said.String(), "no space left") || strings.Contains(said.String(), "Failed to fire hook")) {
				t.Errorf("%v: %s", err, said.String())
			}
			if err != nil && s.ProcessState.ExitCode() != term.CodeInput {
				t.Errorf("exit code %d", s.ProcessState.ExitCode())
			}
			if err := os.Remove(filler); err != nil && filler != "" { // a run may end before it is seen to have begun
				t.Fatal(err)
			}
			if err != nil && exists(filepath.Join(s.Dir, "run")) {
				cmd := exec.Command("dptrain", "resume", "run", "--quiet")
				cmd.Dir, cmd.Env = s.Dir, s.Env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("resume: %v: %s", err, out)
				}
			} else if err != nil {
				for _, name := range files(t, s.Dir) {
					locked := name == "runs" && slices.Equal(files(t, filepath.Join(s.Dir, name)), []string{"ledger.lock"})
					if filepath.Ext(name) != ".csv" && !locked { // a disk may be full just when the ledger is locked
						t.Errorf("%s is left", name)
					}
				}
				return
			}
			if got := fmt.Sprint(contents(t, filepath.Join(s.Dir, "run", "released"))); got != want {
				t.Error("other bytes are released")
			}
			t.Logf("%v: %s", err, strings.TrimSpace(said.String()))
		})
	}
}
