package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Somebody else's run steers no terminal by what it calls itself, and adds no line to a list.
func TestNamesOfRunsSteerNoTerminal(t *testing.T) {
	store := t.TempDir()
	dir := filepath.Join(store, "other")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"version": 1, "name": "a\u001b[2J\nb", "command": "tune\u001b]0;t\u0007", "state": "odd\u001b[1m", "dataset": "d\u009b1m", "model": "m\r"}`
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		lines int
	}{
		{[]string{"runs", "list", "--store", store}, 2},
		{[]string{"runs", "show", dir}, 6},
		{[]string{"runs", "clean", "--store", store, "--abandon", dir}, 2},
	} {
		var out bytes.Buffer
		execute(t.Context(), c.args, &out, &out, false)
		if got := out.String(); strings.ContainsAny(got, "\x1b\x07\r\u009b") || strings.Count(got, "\n") != c.lines {
			t.Errorf("%q: %q", c.args, got)
		}
	}
}
