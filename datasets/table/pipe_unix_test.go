//go:build unix

package table

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Opening a pipe waits for a writer, which may never come.
func TestPipesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Open(path)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), path+": not a regular file; save the rows to one") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for a writer")
	}
}
