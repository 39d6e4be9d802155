//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Of a run whose folder is gone nothing is said to be kept, and nothing to be resumed where it was.
func TestARunWhoseFolderIsMoved(t *testing.T) {
	s := newScene(t, strings.Fields("train --model linear --epochs 1000000 --noise-multiplier 500 --accounting paper --save-every 1ms --quiet --out run"))
	var said bytes.Buffer
	s.Stderr = &said
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	for !exists(filepath.Join(s.Dir, "run", "private", "state", "state-0")) && len(ended) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := os.Rename(filepath.Join(s.Dir, "run"), filepath.Join(s.Dir, "moved")); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	<-ended
	text := said.String()
	if s.ProcessState.ExitCode() != codeInput || !strings.Contains(text, "is gone: if it was moved, resume it there") || strings.Contains(text, "is kept") {
		t.Errorf("exit code %d: %s", s.ProcessState.ExitCode(), text)
	}
}
