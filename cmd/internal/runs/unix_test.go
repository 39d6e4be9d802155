//go:build unix

package runs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A run's folder is as open as the user's umask allows, and private/ is closed under any umask.
func TestUmask(t *testing.T) {
	store := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o022))
	for mask, want := range map[int]fs.FileMode{0o022: 0o755, 0o027: 0o750, 0o077: 0o700, 0o007: 0o750, 0: 0o755} {
		syscall.Umask(mask)
		dir := filepath.Join(store, fmt.Sprintf("%03o", mask))
		r := create(t, dir)
		must(t, r.Finish(nil, release))
		for path, want := range map[string]fs.FileMode{"": want, "released": want, "private": 0o700, "released/model": want & 0o644} {
			info, err := os.Stat(filepath.Join(dir, path))
			must(t, err)
			if got := info.Mode().Perm(); got != want {
				t.Errorf("umask %03o: %q has %o, want %o", mask, path, got, want)
			}
		}
	}
}
