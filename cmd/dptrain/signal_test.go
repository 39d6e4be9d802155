//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// hang is how long a command may take to begin and, interrupted, to end. It is to find those that don't hear.
const hang = time.Minute

// scene is a command under way and what it finds.
type scene struct {
	*exec.Cmd
	data, cache string // folders
}

func newScene(t *testing.T, args []string) *scene {
	s := &scene{Cmd: exec.Command("dptrain", args...), data: t.TempDir(), cache: t.TempDir()}
	keepGlyphs(s.cache)
	s.Dir = t.TempDir()
	s.Env = append(os.Environ(), "XDG_CACHE_HOME="+s.cache, "DPTRAIN_DATA="+s.data, flags.StoreVariable+"=", "HTTPS_PROXY=http://127.0.0.1:1", "CUDA_VISIBLE_DEVICES=-1")
	return s
}

// As of writing, the accountant needs two seconds to several minutes with these flags.
const lastsLong = " --mu 1e6 --sampling-rate 1e-6 --set privacy.epochs=100 "

// TestInterrupt sends Ctrl-C to commands that save or remove something, before they do.
func TestInterrupt(t *testing.T) {
	const accounted = "accounting for the plan"
	for name, c := range map[string]struct {
		args  string
		doing string
		set   func(*testing.T, *scene)
	}{
		"tune, planning":  {args: "tune --epsilon 0.01" + lastsLong, doing: accounted},
		"tune, reading":   {args: "tune --dataset mnist --accounting paper", doing: "loading mnist; nothing was written", set: pipedData},
		"tune, download":  {args: "tune --dataset mnist --accounting paper", doing: "loading mnist; nothing was written", set: silentServer},
		"train, planning": {args: "train --epsilon 0.01 --sampling-rate 1e-6 --epochs 100", doing: accounted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interrupt(t, strings.Fields(c.args), c.doing, c.set)
		})
	}
}

// A command that writes nothing ends at once, by the signal itself.
func TestASignalEndsOtherCommands(t *testing.T) {
	s := newScene(t, strings.Fields("account noise --epsilon 0.01"+lastsLong))
	// Shells may have background jobs ignore Ctrl-C.
	said := s.signalledIn(t, syscall.SIGTERM, "accounting for the plan")
	if status, ok := s.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM || said != "" {
		t.Errorf("it ended with %v and said %q", s.ProcessState, said)
	}
}

// interrupt checks that a command ends with exit code 130, one line and an empty folder, when it is interrupted in what
// it says that it does.
func interrupt(t *testing.T, args []string, doing string, set func(*testing.T, *scene)) {
	s := newScene(t, args)
	if set != nil {
		set(t, s)
	}
	activity, _, _ := strings.Cut(doing, ";") // what becomes of its work is said by the error alone
	said := s.interruptedIn(t, activity)
	if got := s.ProcessState.ExitCode(); got != term.CodeInterrupted {
		t.Fatalf("exit code %d, want %d: %q", got, term.CodeInterrupted, said)
	}
	if left := files(t, s.Dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if want := "dptrain: interrupted while " + doing + "\n"; said != want {
		t.Errorf("standard error: %q, want %q", said, want)
	}
}

// interruptedIn sends Ctrl-C when the command announces an activity, and returns its standard error.
func (s *scene) interruptedIn(t *testing.T, doing string) string {
	return s.signalledIn(t, os.Interrupt, doing)
}

// signalledIn sends a signal when the command announces an activity, and returns its standard error.
func (s *scene) signalledIn(t *testing.T, signal os.Signal, doing string) string {
	from, to := pipe(t)
	s.Env, s.ExtraFiles = append(s.Env, announced+"=1"), []*os.File{to}
	var stderr bytes.Buffer
	s.Stderr = &stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close() // the child has it
	watchdog := time.AfterFunc(hang, func() { _ = s.Process.Kill() })
	defer watchdog.Stop()
	for lines := bufio.NewScanner(from); lines.Scan(); {
		if lines.Text() == doing {
			if err := s.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			break
		}
	}
	_ = s.Wait()
	return stderr.String()
}

// pipe returns a pipe that is open until the test ends.
func pipe(t *testing.T) (from, to *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(from.Close(), to.Close()) })
	return from, to
}

// pipedData is a file of MNIST whose contents never come.
func pipedData(t *testing.T, s *scene) {
	folder := filepath.Join(s.data, "mnist")
	if err := errors.Join(os.Mkdir(folder, 0o755), syscall.Mkfifo(filepath.Join(folder, "train-images-idx3-ubyte.gz"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// silentServer takes every call and never answers.
func silentServer(t *testing.T, s *scene) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s.Env = append(s.Env, "HTTPS_PROXY=http://"+server.Addr().String())
}
