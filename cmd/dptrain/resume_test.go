//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

var lives = flag.Int("lives", 1, "how many runs of each kind the test kills again and again")

// contents returns the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// points are files whose appearance marks a phase of a run: its beginning, its key, its record in the ledger, states of
// trials, the end of tuning, states of the final run, and the steps of the end.
var points = []string{
	"run/run.json", "run/private/key", "runs/ledger.json", "run/private/reserve", "run/private/state/fingerprint", "run/private/state/state-1",
	"run/private/state/trace-1", "run/private/state/outcomes", "run/private/state/state-0", "run/private/run.json", "run/released",
}

// killAt kills a process: as soon as a file of its folder appears, and at most a millisecond later, or after a time. It
// reports whether the process had ended before.
func killAt(cmd *exec.Cmd, ended <-chan error, point string, after time.Duration, draw *rand.Rand) (done bool, err error) {
	deadline := time.Now().Add(after)
	path := filepath.Join(cmd.Dir, point)
	_, before := os.Stat(path)
	for time.Now().Before(deadline) {
		select {
		case err := <-ended:
			return true, err
		default:
		}
		if point != "" && before != nil {
			if _, err := os.Lstat(path); err == nil {
				time.Sleep(time.Duration(draw.IntN(1000)) * time.Microsecond)
				break
			}
		}
		time.Sleep(20 * time.Microsecond)
	}
	_ = cmd.Process.Kill()
	return false, <-ended
}

// However often a run is killed, and wherever, it ends in the bytes that it releases when it isn't, is one release in
// the ledger, and leaves no key and no state.
func TestKilledRunsGoOn(t *testing.T) {
	for _, args := range []string{
		"tune --model mlp:16 --variant 2 --mu 5 --epochs 100" + ownRows,
		"tune --model linear --variant baseline --optimizer dp-adam --mu 4 --epochs 200" + ownRows,
		"train --model mlp:16 --epochs 500" + ownRows,
	} {
		t.Run(strings.Join(strings.Fields(args)[:5], " "), func(t *testing.T) {
			t.Parallel()
			args := append(strings.Fields(args), strings.Fields("--save-every 1ms --quiet --out run --insecure-seed 5 --accounting paper")...)
			whole := newScene(t, args)
			writeRows(t, whole)
			if out, err := whole.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := contents(t, filepath.Join(whole.Dir, "run", "released"))
			for life := range *lives {
				kills := killAndResume(t, args, want, rand.New(rand.NewPCG(uint64(life), uint64(len(args)))))
				t.Logf("killed %d times", kills)
			}
		})
	}
}

func killAndResume(t *testing.T, args []string, want map[string]string, draw *rand.Rand) (kills int) {
	t.Helper()
	scene := newScene(t, args)
	writeRows(t, scene)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("dptrain", args...)
		cmd.Dir, cmd.Env = scene.Dir, scene.Env
		return cmd
	}
	patience := 100 * time.Millisecond // grows, so that the run ends
	for {
		begin := args
		if exists(filepath.Join(scene.Dir, "run")) {
			begin = strings.Fields("resume run --save-every 1ms --quiet")
		}
		cmd := command(begin...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		point := points[draw.IntN(len(points))]
		if draw.IntN(3) == 0 {
			point = ""
		}
		done, err := killAt(cmd, ended, point, time.Duration(draw.Int64N(int64(patience))), draw)
		if done && err != nil {
			if strings.Contains(said.String(), "has ended: it is finished") { // killed after its last word
				break
			}
			t.Fatalf("after %d kills: %v: %s", kills, err, said.String())
		}
		if done {
			break
		}
		kills++
		patience = patience * 5 / 4
	}
	if got := contents(t, filepath.Join(scene.Dir, "run", "released")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after %d kills other bytes are released", kills)
	}
	if out, err := command("runs", "clean", "--store", ".").CombinedOutput(); err != nil {
		t.Errorf("clean: %v: %s", err, out)
	}
	for _, name := range []string{"key", "state", "reserve"} {
		if exists(filepath.Join(scene.Dir, "run", "private", name)) {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range files(t, scene.Dir) {
		if name != "run" && name != "runs" && path.Ext(name) != ".csv" {
			t.Errorf("%s is left", name)
		}
	}
	out, err := command("ledger", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte(`"run":`)); n != 1 {
		t.Errorf("%d releases in the ledger: %s", n, out)
	}
	return kills
}

// training begins a run that doesn't end by itself, and returns it, with its standard error, once it has saved a state.
func training(t *testing.T, more ...string) (s *scene, stderr *bytes.Buffer) {
	t.Helper()
	s = newScene(t, append(strings.Fields("tune --model linear --epochs 100000 --accounting paper --quiet --out run"+ownRows), more...))
	writeRows(t, s)
	stderr = new(bytes.Buffer)
	s.Stderr = stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(s.Dir, "run", "private", "state", "fingerprint")) {
		time.Sleep(time.Millisecond)
	}
	return s, stderr
}

// A signal stops a run after a step and says how to go on; a second one kills it.
func TestSignalsStopARun(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(fmt.Sprint(signal), func(t *testing.T) {
			t.Parallel()
			s, stderr := training(t)
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = s.Wait()
			const said = "warning: stopping; again to kill\ndptrain: interrupted while training; what is done is kept: dptrain resume run\n"
			if code := s.ProcessState.ExitCode(); code != term.CodeInterrupted || !strings.HasSuffix(stderr.String(), said) {
				t.Errorf("exit code %d: %s", code, stderr.String())
			}
			var manifest struct{ State string }
			text, err := os.ReadFile(filepath.Join(s.Dir, "run", "run.json"))
			if err != nil || json.Unmarshal(text, &manifest) != nil || manifest.State != "stopped" || !exists(filepath.Join(s.Dir, "run", "private", "key")) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// A run whose folder is moved while it trains ends at the next save, and says so.
func TestAMovedFolder(t *testing.T) {
	s, stderr := training(t, "--save-every", "1ms")
	if err := os.Rename(filepath.Join(s.Dir, "run"), filepath.Join(s.Dir, "moved")); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	if said := stderr.String(); s.ProcessState.ExitCode() != term.CodeInput || !strings.Contains(said, "is gone: if it was moved, resume it there") {
		t.Errorf("exit code %d: %s", s.ProcessState.ExitCode(), said)
	}
}
