package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

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
		{true, []string{"--json"}, false}, {false, []string{"--json", "--verbose"}, true},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"train", "--train", filepath.Join(dir, "private.csv"), "--test", filepath.Join(dir, "public.csv"), "--label", "y", "--delta", "0.01",
			"--engine", "cpu", "--out", filepath.Join(dir, "out")}, c.flags...)
		if code := execute(t.Context(), args, &stdout, &stderr, c.terminal); code != term.CodeInput {
			t.Fatalf("code %d: %s", code, stderr.String())
		}
		if shown := strings.Contains(stderr.String()+stdout.String(), "5EcR3t"); shown != c.shown {
			t.Errorf("terminal %v, %v: %s", c.terminal, c.flags, stderr.String())
		}
	}
}
