package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// signed returns the file with a content, and the content's checksum.
func signed(content string) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(content)) != nil {
		return []byte(content)
	}
	return fmt.Appendf(nil, `{"version":1,"sha256":"%x","ledger":%s}`, sha256.Sum256(compact.Bytes()), compact.Bytes())
}

// The test binary is a recorder if this variable is set: to the folder, the run's id, and the step of the write after
// which it is killed, or "".
const recorderVariable = "LEDGER_TEST_RECORDER"

func TestMain(m *testing.M) {
	if job := os.Getenv(recorderVariable); job != "" {
		os.Exit(recorder(strings.Split(job, "|")))
	}
	os.Exit(m.Run())
}

// Exit codes of a recorder.
const (
	recorded = 0
	refused  = 8
	failed   = 9
	panicked = 2
)

func recorder(job []string) int {
	l, err := Open(job[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return failed
	}
	l.store.after = func(step string) {
		if step == job[2] {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	}
	if job[2] == "full" {
		limitFiles()
	}
	r, err := byGaussian(job[1], Named("mnist", 1), 4, 1e-5)
	if err == nil {
		_, err = l.Record(context.Background(), r)
	}
	var budget *BudgetError
	switch {
	case errors.As(err, &budget):
		return refused
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return failed
	}
	return recorded
}

// start starts a recorder.
func start(t *testing.T, dir, run, step string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%s", recorderVariable, dir, run, step))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &complaint
}

// If several processes race for the rest of a budget, as many win as fit.
func TestProcessesRaceForABudget(t *testing.T) {
	dir := t.TempDir()
	const fit, racers = 3, 8
	l := open(t, dir)
	// Between the cost of fit and of fit + 1 mechanisms of noise 4.
	setBudget(t, l, Named("mnist", 1), (exactGaussian(4/math.Sqrt(fit), 1e-5)+exactGaussian(4/math.Sqrt(fit+1), 1e-5))/2, 1e-5)
	var all []*exec.Cmd
	for i := range racers {
		cmd, _ := start(t, dir, fmt.Sprint(i), "")
		all = append(all, cmd)
	}
	codes := map[int]int{}
	for _, cmd := range all {
		_ = cmd.Wait() // the exit code says it
		codes[cmd.ProcessState.ExitCode()]++
	}
	if codes[recorded] != fit || codes[refused] != racers-fit {
		t.Errorf("exit codes %v, want %d of %d and %d of %d", codes, fit, recorded, racers-fit, refused)
	}
	if releases, err := l.Releases(); err != nil || len(releases) != fit {
		t.Errorf("%d releases, %v", len(releases), err)
	}
}

// A writer that is killed between any two steps leaves the old ledger or the new one, and the next writer goes on.
func TestKilledWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs [1*") // no pattern
	l := open(t, dir)
	record(t, l, gaussian(t, "before", Named("mnist", 1), 4, 1e-5))
	want := []string{"before"}
	for _, step := range []string{"create", "write", "close", "rename"} {
		cmd, complaint := start(t, dir, step, step)
		if err := cmd.Wait(); err == nil || slices.Contains([]int{failed, panicked}, cmd.ProcessState.ExitCode()) {
			t.Fatalf("killed after %s: %v, %s", step, err, complaint)
		}
		if step == "rename" {
			want = append(want, step)
		}
		check := func() {
			t.Helper()
			releases, err := l.Releases()
			var runs []string
			for _, r := range releases {
				runs = append(runs, r.Run)
			}
			if err != nil || !slices.Equal(runs, want) {
				t.Errorf("killed after %s: runs %v, %v, want %v", step, runs, err, want)
			}
		}
		check()
		if left := leftovers(t, dir); (len(left) == 1) != (step != "rename") {
			t.Errorf("killed after %s: %v is left, so this tests nothing", step, left)
		}
		next := "after " + step
		record(t, l, gaussian(t, next, Named("mnist", 1), 4, 1e-5))
		want = append(want, next)
		check()
		if left := leftovers(t, dir); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// leftovers returns the names of temporary files in a folder.
func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
