package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
)

// A terminal shows the cell, and so does --verbose.
func TestPrivateText(t *testing.T) {
	err := fmt.Errorf("read: %w", errors.Join(&table.Error{File: "f", Problem: "wrong", Private: "the cell is \"x\"\n\x1b[2J"}, errors.New("close")))
	if got := privateText(err, true); got != `; the cell is "x"  [2J` {
		t.Errorf("shown: %q", got)
	}
	if got := privateText(err, false); got != "; --verbose shows what the file has there, which is private" {
		t.Errorf("not shown: %q", got)
	}
	for _, none := range []error{&table.Error{File: "f", Problem: "wrong"}, errors.New("other")} {
		if got := privateText(none, true) + privateText(none, false); got != "" {
			t.Errorf("%v: %q", none, got)
		}
	}
}

// The terminal decides where --verbose isn't given.
func TestPrivateTextByTerminal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"private.csv": "x,y\n5EcR3t,a\n", "public.csv": "x,y\n1,a\n2,b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		terminal bool
		flags    []string
		shown    bool
	}{
		{false, nil, false}, {true, nil, true}, {false, []string{"--verbose"}, true},
		{true, []string{"--json"}, false}, {true, []string{"--log-format", "json"}, false}, {false, []string{"--json", "--verbose"}, true},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"train", "--train", filepath.Join(dir, "private.csv"), "--test", filepath.Join(dir, "public.csv"), "--label", "y", "--delta", "0.01",
			"--engine", "cpu", "--out", filepath.Join(dir, "out")}, c.flags...)
		if code := execute(t.Context(), args, &stdout, &stderr, c.terminal); code != codeInput {
			t.Fatalf("code %d: %s", code, stderr.String())
		}
		if shown := strings.Contains(stderr.String()+stdout.String(), "5EcR3t"); shown != c.shown {
			t.Errorf("terminal %v, %v: %s", c.terminal, c.flags, stderr.String())
		}
	}
}
