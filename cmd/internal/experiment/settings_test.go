package experiment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A settings file may be a pipe, and has an end.
func TestReadSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("#"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if text, err := ReadSettings(write("largest.yaml", maxSettings)); err != nil || len(text) != maxSettings {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	endless := write("endless.yaml", 0)
	if err := os.Truncate(endless, 1<<40); err != nil { // it takes no space on the disk
		t.Skip(err)
	}
	for _, path := range []string{write("larger.yaml", maxSettings+1), endless} {
		if _, err := ReadSettings(path); err == nil || !strings.Contains(err.Error(), path+": more than 1048576 bytes; give a file of settings") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ReadSettings(dir); err == nil {
		t.Error("a folder was read")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("model: mlp\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	pipe := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(pipe); err != nil {
		t.Skip(err)
	}
	if text, err := ReadSettings(pipe); err != nil || string(text) != "model: mlp\n" {
		t.Errorf("a pipe: %q, %v", text, err)
	}
}
