package campaign

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/durable"
	"github.com/dptrain/dptrain/internal/runs"
)

// copying begins the names of folders whose runs are being copied.
const copying = ".merge-"

// removeCutOffCopies removes what a merge that was killed had begun to copy.
func (s *Store) removeCutOffCopies() error {
	entries, err := os.ReadDir(s.Runs())
	for _, e := range entries {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), copying) {
			err = os.RemoveAll(filepath.Join(s.Runs(), e.Name()))
		}
	}
	return err
}

// copyRun copies a run's folder under a temporary name, and renames it. The copy is on the disk when it appears.
func copyRun(from, to, store, name string) error {
	partial, err := os.MkdirTemp(store, copying)
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	dir := filepath.Join(partial, name)
	if err := copyTree(from, dir); err != nil {
		return err
	}
	if err := runs.Rename(dir, name); err != nil {
		return err
	}
	if err := os.Rename(dir, to); err != nil {
		return err
	}
	return durable.SyncFolder(store)
}

// forgotten reports whether a file or folder of a finished run isn't copied: what only a run under way needs. Its
// process may be removing it right now, or was killed before it did: there mustn't be two copies of a key.
func forgotten(file string) bool {
	return slices.Contains([]string{"private/key", "private/state", "private/lock", "private/reserve"}, file) || strings.HasPrefix(path.Base(file), ".new-")
}

// modeOf returns the permissions of a copy. The other folder's file system may know none, and then allows all.
func modeOf(file string, mode fs.FileMode) fs.FileMode {
	if file == "private" || strings.HasPrefix(file, "private/") {
		return mode.Perm() & 0o600 // a folder gets more
	}
	return mode.Perm()
}

// copyTree copies folders and files with their modes and times. Links aren't followed, and aren't copied.
func copyTree(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	var folders []string
	err = fs.WalkDir(root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case forgotten(file) && e.IsDir():
			return fs.SkipDir
		case forgotten(file):
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, file)
		switch {
		case e.IsDir():
			folders = append(folders, file)
			return os.MkdirAll(target, modeOf(file, info.Mode())|0o700)
		case !info.Mode().IsRegular():
			return nil
		}
		text, err := root.ReadFile(file)
		if err != nil {
			return err
		}
		return errors.Join(writeSynced(target, text, modeOf(file, info.Mode())), os.Chtimes(target, info.ModTime(), info.ModTime()))
	})
	for _, folder := range slices.Backward(folders) {
		if err == nil {
			err = durable.SyncFolder(filepath.Join(to, folder))
		}
		if info, failed := root.Stat(folder); failed == nil && err == nil {
			err = os.Chtimes(filepath.Join(to, folder), info.ModTime(), info.ModTime())
		}
	}
	return err
}

// writeSynced writes a new file to the disk.
func writeSynced(path string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
