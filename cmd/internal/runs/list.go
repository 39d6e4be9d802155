package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Info is the readable part of a run.
type Info struct {
	Dir string
	Manifest
	Running bool    // a process carries it out
	Record  *Record // nil without permission, or of a released copy
}

// Resumable reports whether the run was interrupted and [Resume] can continue it.
func (i Info) Resumable() bool {
	return !i.Running && i.Stage != Finished && i.Stage != Failed && i.Record != nil
}

// Open reads the run in a folder. The error wraps [ErrNoRun] for a folder that is no run's.
func Open(dir string) (Info, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Info{}, err
	}
	i := Info{Dir: dir, Manifest: m}
	var record Record
	if readJSON(filepath.Join(dir, privateName, recordName), &record) == nil {
		i.Record = &record
	}
	if m.Stage != Finished && m.Stage != Failed {
		i.Running = Locked(filepath.Join(dir, privateName, lockName))
	}
	return i, nil
}

// Locked reports whether a process, perhaps this one, holds a lock. If none does, Locked takes the lock for a moment.
func Locked(path string) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	taken, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !taken
}

// entries returns what a store holds: nothing if there is no such folder.
func entries(store string) ([]fs.DirEntry, error) {
	found, err := os.ReadDir(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the store of runs: %w", err)
	}
	return found, nil
}

// List reads the runs of a store, in the order of their folders' names. It skips everything else. Unreadable runs are
// in the error, and List still returns the others. It destroys keys and states of runs that have ended: a process
// that is killed at its run's end leaves them.
func List(store string) ([]Info, error) {
	entries, err := entries(store)
	if err != nil {
		return nil, err
	}
	var found []Info
	var failed error
	for _, e := range entries {
		dir := filepath.Join(store, e.Name())
		if _, err := os.Stat(filepath.Join(dir, manifestName)); err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := Open(dir)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if ended := info.Stage == Finished || info.Stage == Failed; ended && !Locked(filepath.Join(dir, privateName, lockName)) {
			_ = sweep(dir) // Leftovers has what stays, as in a folder that can't be written
		}
		found = append(found, info)
	}
	return found, failed
}

// partialInfix is in the names of folders that are being made or removed, after a dot and the run's name.
const partialInfix = ".partial-"

// Leftovers returns the files and folders that killed processes left in a store and no run needs: folders that were
// being made or removed, and the keys and states of runs that have ended. Their content is private.
func Leftovers(store string) ([]string, error) {
	entries, err := entries(store)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		dir := filepath.Join(store, e.Name())
		if e.IsDir() && partial(dir) {
			if !Locked(filepath.Join(dir, privateName, lockName)) {
				found = append(found, dir)
			}
			continue
		}
		if info, err := Open(dir); err == nil && (info.Stage == Finished || info.Stage == Failed) {
			for _, name := range []string{keyName, stateName} {
				if path := filepath.Join(dir, privateName, name); exists(path) {
					found = append(found, path)
				}
			}
		}
	}
	return found, nil
}

// partial reports whether a folder has the name of a folder being made or removed, and holds only files of a run's
// folder: a store may contain foreign folders.
func partial(dir string) bool {
	name, number, ok := strings.Cut(filepath.Base(dir), partialInfix)
	if !ok || len(name) < 2 || name[0] != '.' || number == "" || strings.Trim(number, "0123456789abcdef") != "" {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !slices.Contains([]string{manifestName, releasedName, privateName}, e.Name()) && !strings.HasPrefix(e.Name(), temporary)
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// RemoveLeftover removes a path that [Leftovers] found. It overwrites a key first.
func RemoveLeftover(path string) error {
	if filepath.Base(path) == keyName {
		return destroy(path)
	}
	if key := filepath.Join(path, privateName, keyName); exists(key) {
		if err := destroy(key); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}

// Abandon removes the folder of an interrupted run that won't be resumed, its key first. The cost of its training still
// counts.
func Abandon(dir string) error {
	r, err := Resume(dir)
	if err != nil {
		return err
	}
	return errors.Join(destroy(r.private(keyName)), r.Discard())
}
