package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func TestMain(m *testing.M) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: children heed a signal that is handled here
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(withStore{m}, map[string]func(){"dptrain": func() {
		if os.Getenv(announced) != "" {
			to := os.NewFile(3, "activities")
			term.Awaiting = func(doing string) { fmt.Fprintln(to, doing) }
		}
		main()
	}})
}

// announced is the variable with which this program, as dptrain, writes what it begins to wait for to its fourth file.
const announced = "DPTRAIN_TEST_ANNOUNCED"

// withStore runs the tests with a store of their own, for the commands that run within this process.
type withStore struct{ *testing.M }

func (m withStore) Run() int {
	dir, err := os.MkdirTemp("", "dptrain-store-")
	if err == nil {
		err = os.Setenv(flags.StoreVariable, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.M.Run()
}

// Scripts see no data set, no GPU and no network: a proxy that refuses stands before every download.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			keepGlyphs(env.WorkDir + "/cache")
			env.Setenv("DPTRAIN_DATA", "")
			env.Setenv("DATA", os.Getenv("DPTRAIN_DATA")) // for scripts that need real data
			env.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
			env.Setenv("CUDA_VISIBLE_DEVICES", "-1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "awaits": awaits},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root": // whom permissions don't stop
				return os.Geteuid() == 0, nil
			case "vocabulary": // in $DATA
				_, err := os.Stat(filepath.Join(os.Getenv("DPTRAIN_DATA"), "imdb", "vocab.txt"))
				return err == nil && os.Getenv("DPTRAIN_DATA") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// keepGlyphs lets an empty cache have the user's glyphs, which take a second to draw. Where that fails they are drawn.
func keepGlyphs(cache string) {
	if user, err := os.UserCacheDir(); err == nil {
		from := filepath.Join(user, "dptrain", "glyphs")
		_ = errors.Join(os.MkdirAll(from, 0o755), os.MkdirAll(filepath.Join(cache, "dptrain"), 0o755), os.Symlink(from, filepath.Join(cache, "dptrain", "glyphs")))
	}
}

// exits CODE PROGRAM ARGS... runs a program that must fail with the code and say why in one line: an object with
// --json.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("%v, want exit code %d", err, want)
	}
	message, begins := ts.ReadFile("stderr"), "dptrain: "
	if strings.Contains(strings.Join(args, " "), "--json") {
		begins = `{"error":"`
	}
	if !strings.HasPrefix(message, begins) || strings.Index(message, "\n") != len(message)-1 {
		ts.Fatalf("want one line on standard error, got %q", message)
	}
}

// awaits FILE waits for a file that a command in the background makes.
func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: awaits file")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s never came", args[0])
}
