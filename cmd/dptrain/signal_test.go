//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
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
	s.Dir = t.TempDir()
	s.Env = append(os.Environ(), "XDG_CACHE_HOME="+s.cache, "DPTRAIN_DATA="+s.data, storeVariable+"=", "HTTPS_PROXY=http://127.0.0.1:1", "CUDA_VISIBLE_DEVICES=-1")
	return s
}

// TestInterrupt sends Ctrl-C to every command that can take long, in the middle of each thing that can.
func TestInterrupt(t *testing.T) {
	// As of writing, the accountant needs two seconds to several minutes for each of these.
	const long = " --mu 1e6 --sampling-rate 1e-6 --set privacy.epochs=100 "
	const accounted = "accounting for the plan"
	rates := strings.Repeat("0.01,", 20_000) + "0.01"

	for name, c := range map[string]struct {
		args  string
		doing string
		set   func(*testing.T, *scene)
	}{
		"account epsilon": {args: "account epsilon --noise-multiplier 20" + long, doing: accounted},
		"account delta":   {args: "account delta --noise-multiplier 20 --epsilon 1" + long, doing: accounted},
		"account noise":   {args: "account noise --epsilon 0.01" + long, doing: accounted},
		"account steps":   {args: "account steps --noise-multiplier 20 --epsilon 1 --mu 15 --sampling-rate 1e-4", doing: accounted},
		"account compare": {args: "account compare --epsilon 0.01" + long, doing: accounted},
		"eval, waiting":   {args: "account eval", doing: "answering questions", set: openStdin},
		"eval, endless":   {args: "account eval", doing: "answering questions", set: endlessQuestions},
		"eval, unread":    {args: "account eval", doing: "answering questions", set: unreadAnswers},
		"figures bounds":  {args: "figures bounds --noise-multiplier 20 --mu 1e6 --sampling-rate 1e-6 --steps 100000000", doing: "computing the bounds; nothing was written"},
		"figures lines":   {args: "figures lines --order 1024 --sampling-rate " + rates, doing: "computing the lines; nothing was written"},
		"figures drawing": {args: "figures lines --sampling-rate " + strings.Repeat("0.01,", 1000) + "0.01", doing: "drawing the figure; nothing was written"},
		"tune, dry run":   {args: "tune --dry-run --epsilon 0.01" + long, doing: accounted},
		"tune, planning":  {args: "tune --epsilon 0.01" + long, doing: accounted},
		"tune, reading":   {args: "tune --dataset mnist --accounting paper", doing: "loading mnist; nothing was written", set: pipedData},
		"tune, download":  {args: "tune --dataset mnist --accounting paper", doing: "loading mnist; nothing was written", set: silentServer},
		"train, dry run":  {args: "train --dry-run --epsilon 0.01 --sampling-rate 1e-6 --epochs 100", doing: accounted},
		"train, planning": {args: "train --epsilon 0.01 --sampling-rate 1e-6 --epochs 100", doing: accounted},
		"train, reading":  {args: "train --dataset mnist --accounting paper", doing: "loading mnist; nothing was written", set: pipedData},
		"fetch, download": {args: "data fetch mnist", doing: "fetching mnist; what came so far is kept, fetch again to go on", set: silentServer},
		"fetch, locked":   {args: "data fetch mnist", doing: "fetching mnist; what came so far is kept, fetch again to go on", set: lockedCache},
		"verify":          {args: "data verify mnist", doing: "verifying mnist", set: pipedData},
		"settings":        {args: "settings --config /dev/stdin", doing: "reading the settings", set: openStdin},
		"tune, settings":  {args: "tune --config /dev/stdin", doing: "reading the settings", set: openStdin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interrupt(t, strings.Fields(c.args), c.doing, c.set)
		})
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
	if got := s.ProcessState.ExitCode(); got != codeInterrupted {
		t.Fatalf("exit code %d, want %d: %q", got, codeInterrupted, said)
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
			if err := s.Process.Signal(os.Interrupt); err != nil {
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

// openStdin is a terminal without input.
func openStdin(t *testing.T, s *scene) { s.Stdin, _ = pipe(t) }

func endlessQuestions(t *testing.T, s *scene) {
	from, to := pipe(t)
	s.Stdin = from
	const question = `{"id": 1, "function": "rdp_to_epsilon", "params": {"alpha": 2, "rdp": 0, "delta": 0.5}}` + "\n"
	go func() {
		for err := error(nil); err == nil; {
			_, err = io.WriteString(to, question)
		}
	}()
}

func unreadAnswers(t *testing.T, s *scene) {
	endlessQuestions(t, s)
	_, s.Stdout = pipe(t)
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

// lockedCache is that of another process that downloads and doesn't come to an end.
func lockedCache(t *testing.T, s *scene) {
	folder := filepath.Join(s.cache, "dptrain", "mnist")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
}
