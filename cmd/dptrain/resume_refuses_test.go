//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// stopped returns a scene with a run on files of one's own that was stopped in its training.
func stopped(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, strings.Fields("tune --train train.csv --test test.csv --label y --model linear --delta 0.001 --sampling-rate 0.5 --epochs 20000 --accounting paper --noise-multiplier 500 --mu 3 --save-every 1ms --insecure-seed 1 --quiet --out run"))
	writeRows(t, s)
	var stderr bytes.Buffer
	s.Stderr = &stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	for !exists(filepath.Join(s.Dir, "run", "private", "state", "trace-1")) {
		select {
		case err := <-ended:
			t.Fatalf("%v: %s", err, stderr.String())
		case <-time.After(time.Millisecond):
		}
	}
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || s.ProcessState.ExitCode() != term.CodeInterrupted {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return s
}

// writeRows writes the files that ownRows names.
func writeRows(t *testing.T, s *scene) {
	t.Helper()
	rows := "x,y\n" + strings.Repeat("-1,no\n1,yes\n-0.8,no\n", 40)
	for name, text := range map[string]string{"train.csv": rows, "test.csv": "x,y\n-2,no\n2,yes\n"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ownRows are the flags of a run on few rows, which begins at once: the built-in data set takes half a second to draw.
const ownRows = " --train train.csv --test test.csv --label y --delta 0.001 --noise-multiplier 100 "

// replaced returns a function that replaces a text in a file below a scene's folder.
func replaced(name, old, by string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		path := filepath.Join(s.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(old)) {
			t.Fatalf("%v: no %q in %s", err, old, text)
		}
		if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(by), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A run goes on with the same data, plan, program and arithmetic alone. A refusal changes nothing: with the old
// things back the run can still be resumed.
func TestResumeRefusesWhatChanged(t *testing.T) {
	first := stopped(t)
	for _, c := range []struct {
		name   string
		change func(*testing.T, *scene)
		flags  string
		code   int
		says   string
	}{
		{"a cell", replaced("train.csv", "-0.8,no", "-0.7,no"), "", term.CodeInput, "is recorded with other data, or another event"},
		{"no file", func(t *testing.T, s *scene) {
			if err := os.Remove(filepath.Join(s.Dir, "train.csv")); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "--train says where it is now"},
		{"a cell, before any training", func(t *testing.T, s *scene) {
			replaced("run/run.json", `"state": "stopped"`, `"state": "planned"`)(t, s)
			replaced("train.csv", "-0.8,no", "-0.7,no")(t, s)
		}, "", term.CodeInput, "is recorded with other data, or another event"},
		{"a row", replaced("train.csv", "-0.8,no\n", ""), "", term.CodeInput, "was planned for 120 samples"},
		{"the test set", replaced("test.csv", "2,yes", "1.5,yes"), "", term.CodeInput, "the test data changed since the run began"},
		{"the test set, without a fingerprint", func(t *testing.T, s *scene) {
			replaced("test.csv", "2,yes", "1.5,yes")(t, s)
			if err := os.Remove(filepath.Join(s.Dir, "run/private/state/fingerprint")); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "the data or the settings changed since the run"},
		{"the key, for zeros", func(t *testing.T, s *scene) {
			if err := os.WriteFile(filepath.Join(s.Dir, "run/private/key"), make([]byte, 32), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "its key is damaged"},
		{"the space", replaced("run/private/settings.yaml", "learning_rates: [", "learning_rates: [0.123, "), "", term.CodeInput, "the plan changed since the run began"},
		{"the noise", replaced("run/private/settings.yaml", "noise_multiplier: 500", "noise_multiplier: 400"), "", term.CodeInput, "was planned for 120 samples and epsilon"},
		{"the arithmetic", replaced("run/private/state/fingerprint", `"engine":"`, `"engine":"other `), "", term.CodeInput, "the run began with engine arithmetic"},
		{"a state", func(t *testing.T, s *scene) {
			paths, err := filepath.Glob(filepath.Join(s.Dir, "run/private/state/state-*"))
			if err != nil || len(paths) == 0 {
				t.Fatalf("it has no state: %v", err)
			}
			if err := os.Truncate(paths[0], 100); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "not a training state, or a damaged one"},
		{"the key", func(t *testing.T, s *scene) {
			if err := os.Truncate(filepath.Join(s.Dir, "run/private/key"), 3); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "its key is damaged"},
		{"an empty key", func(t *testing.T, s *scene) {
			if err := os.WriteFile(filepath.Join(s.Dir, "run/private/key"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "its key is damaged"},
		{"the place of a file", func(t *testing.T, s *scene) {
			if err := os.Rename(filepath.Join(s.Dir, "train.csv"), filepath.Join(s.Dir, "moved.csv")); err != nil {
				t.Fatal(err)
			}
		}, "", term.CodeInput, "train.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{Cmd: exec.Command("dptrain", append([]string{"resume", "run", "--quiet"}, strings.Fields(c.flags)...)...)}
			s.Dir, s.Env = filepath.Join(t.TempDir(), "copy"), first.Env
			if err := os.CopyFS(s.Dir, os.DirFS(first.Dir)); err != nil {
				t.Fatal(err)
			}
			replaced("run/private/record.json", first.Dir, s.Dir)(t, s)
			replaced("run/private/record.json", first.Dir, s.Dir)(t, s)
			c.change(t, s)
			var stderr bytes.Buffer
			s.Stderr = &stderr
			if err := s.Run(); err == nil || s.ProcessState.ExitCode() != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, %s", s.ProcessState.ExitCode(), stderr.String())
			}
			if !exists(filepath.Join(s.Dir, "run", "private", "key")) || exists(filepath.Join(s.Dir, "run", "released")) {
				t.Error("what is refused changed the run")
			}
		})
	}
	t.Run("no key", func(t *testing.T) {
		key := filepath.Join(first.Dir, "run", "private", "key")
		if err := os.Rename(key, key+"-away"); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("dptrain", "resume", "run", "--quiet")
		cmd.Dir, cmd.Env = first.Dir, first.Env
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "its key is gone, and with another it would draw other noise") || exists(key) {
			t.Errorf("%v: %s", err, out)
		}
		if err := os.Rename(key+"-away", key); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("another program", func(t *testing.T) {
		path, err := exec.LookPath("dptrain")
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "dptrain")
		if err := os.WriteFile(other, append(program, 0), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(other, "resume", "run")
		cmd.Dir, cmd.Env = first.Dir, first.Env
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "was begun by another dptrain") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// A run goes on with the ledger that has it, also when its store has moved. A new ledger would forget past releases,
// even one that --store names.
func TestResumeFindsTheLedger(t *testing.T) {
	first := stopped(t)
	for _, c := range []struct {
		name            string
		run, store, old string // folders below that of the scene, after the move; old is made anew
		want            string // the store; empty if it isn't found
	}{
		{"nothing moved", "run", "runs", "", "runs"},
		{"a run moved", "elsewhere/run", "runs", "", "runs"},
		{"a store moved with its run", "elsewhere/run", "elsewhere", "", "elsewhere"},
		{"another store where it was", "elsewhere/run", "elsewhere", "runs", "elsewhere"},
		{"a store moved alone", "run", "elsewhere", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{Cmd: exec.Command("dptrain")}
			s.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(s.Dir, os.DirFS(first.Dir)); err != nil {
				t.Fatal(err)
			}
			replaced("run/private/record.json", first.Dir, s.Dir)(t, s)
			replaced("run/private/record.json", first.Dir, s.Dir)(t, s)
			in := func(name string) string { return filepath.Join(s.Dir, name) }
			for _, err := range []error{
				os.Rename(in("runs"), in("moved")), os.Rename(in("run"), in("moved-run")), os.MkdirAll(filepath.Dir(in(c.store)), 0o700),
				os.Rename(in("moved"), in(c.store)), os.MkdirAll(filepath.Dir(in(c.run)), 0o700), os.Rename(in("moved-run"), in(c.run)),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if c.old != "" {
				if err := os.Mkdir(in(c.old), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			folder, err := runs.Resume(in(c.run))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = folder.Release() }()
			got, err := (&resumeOptions{}).storeOf(folder)
			switch {
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), "--store says where it is now")):
				t.Errorf("store %q, %v", got, err)
			case c.want != "" && (err != nil || got != in(c.want)):
				t.Errorf("store %q, %v, want %q", got, err, in(c.want))
			}
			if got, err := (&resumeOptions{store: in(c.store)}).storeOf(folder); err != nil || got != in(c.store) {
				t.Errorf("--store that has the run gives %q, %v", got, err)
			}
			if got, err := (&resumeOptions{store: in("given")}).storeOf(folder); (err == nil) != (c.want == "") || err == nil && got != in("given") {
				t.Errorf("--store that lacks the run gives %q, %v", got, err)
			}
		})
	}
}

// A run goes on from whatever folder, with files that were moved, in the store that has its release.
func TestResumeElsewhere(t *testing.T) {
	s := stopped(t)
	elsewhere := t.TempDir()
	if err := os.Rename(filepath.Join(s.Dir, "train.csv"), filepath.Join(elsewhere, "moved.csv")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dptrain", "resume", filepath.Join(s.Dir, "run"), "--train", "moved.csv", "--quiet")
	cmd.Dir, cmd.Env = elsewhere, s.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		text, err := os.ReadFile(filepath.Join(s.Dir, "run", "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"state": "training"`)) {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("%v: %s", err, stderr.String())
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ended
	if cmd.ProcessState.ExitCode() != term.CodeInterrupted {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), stderr.String())
	}
	if left := files(t, elsewhere); len(left) != 1 {
		t.Errorf("left beside the data: %q", left)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "runs", "ledger.json"))
	if err != nil || bytes.Count(text, []byte(`"run":`)) != 1 {
		t.Errorf("%v: %s", err, text)
	}
}
