//go:build unix

package report

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A run directory is as open as the user's umask says, and private/ is closed under any.
func TestDirKeepsToTheUmask(t *testing.T) {
	parent := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o022))
	for mask, want := range map[int]fs.FileMode{0o022: 0o755, 0o027: 0o750, 0o077: 0o700, 0o007: 0o750, 0: 0o755} {
		syscall.Umask(mask)
		d, err := Create(filepath.Join(parent, fmt.Sprintf("%03o", mask)))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.WriteRelease(example()); err != nil {
			t.Fatal(err)
		}
		if err := d.Publish(); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{"": want, "released": want, "private": 0o700, "released/model.json": want & 0o644} {
			info, err := os.Stat(filepath.Join(d.Path(), path))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("umask %03o: %q has %o, want %o", mask, path, got, want)
			}
		}
	}
}

// A user who may list the run directory sees when its folders were changed last.
func TestRunDirectoryTellsNoTime(t *testing.T) {
	d, err := Create(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	d.began = time.Date(2024, 3, 2, 13, 30, 15, 0, time.UTC)
	if err := d.WriteRelease(example()); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePrivate("log.txt", nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Publish(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "private", "released"} {
		info, err := os.Stat(filepath.Join(d.Path(), path))
		if err != nil {
			t.Fatal(err)
		}
		if want := time.Date(2024, 3, 2, 0, 0, 0, 0, time.UTC); !info.ModTime().Equal(want) {
			t.Errorf("%q is of %v, want %v", path, info.ModTime().UTC(), want)
		}
	}
}
