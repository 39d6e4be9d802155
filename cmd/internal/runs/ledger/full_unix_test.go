//go:build unix

package ledger

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// limitFiles makes the system refuse to write more than some bytes into a file, as a full disk does.
func limitFiles() {
	signal.Ignore(syscall.SIGXFSZ)
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 700, Max: 700})
}

// A disk without space leaves the old ledger.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	record(t, l, gaussian(t, "1", Named("mnist", 1), 4, 1e-5))
	before, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	cmd, complaint := start(t, dir, "2", "full")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != failed ||
		!strings.Contains(complaint.String(), "can't be written; the old one is as it was") || !strings.Contains(complaint.String(), l.Path()) {
		t.Errorf("%v, %s", err, complaint)
	}
	after, err := os.ReadFile(l.Path())
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); err != nil || !bytes.Equal(before, after) || len(left) > 0 {
		t.Errorf("%s, %v, %v is left; want the old file", after, err, left)
	}
	record(t, l, gaussian(t, "2", Named("mnist", 1), 4, 1e-5))
}
