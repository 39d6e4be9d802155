package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/dptrain/dptrain/internal/durable"
)

// FileName is the name of the ledger's file in its folder.
const FileName = "ledger.json"

const (
	lockName = "ledger.lock"
	// temporary is the pattern of new files before they are renamed. Only the owner of the lock has one.
	temporary = ".ledger-*.tmp"
)

// store is the ledger's file and its folder.
type store struct {
	dir string
	// after is passed to durable.Replace.
	after func(step string)
}

func (s *store) path() string { return filepath.Join(s.dir, FileName) }

// read returns the ledger. A missing file is an empty ledger.
func (s *store) read() (*book, error) {
	switch info, err := os.Lstat(s.path()); {
	case errors.Is(err, fs.ErrNotExist):
		return &book{}, nil
	case err != nil:
		return nil, &FileError{s.path(), "can't be read", err}
	case !info.Mode().IsRegular():
		return nil, &FileError{s.path(), "not a regular file, so it can't be replaced as a whole; move the file itself here", nil}
	}
	text, err := os.ReadFile(s.path())
	if err != nil {
		return nil, &FileError{s.path(), "can't be read", err}
	}
	b, err := parse(text)
	switch {
	case errors.Is(err, errNewer):
		return nil, &FileError{s.path(), "can't be read", err}
	case err != nil:
		return nil, &FileError{s.path(), "damaged, and what it remembers can't be made again; restore a copy of it (a file that is moved away is forgotten)", err}
	}
	return b, nil
}

// lock waits for the folder's lock.
func (s *store) lock(ctx context.Context) (*flock.Flock, error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, &FileError{s.path(), "its folder can't be made", err}
	}
	// Opening a pipe would wait.
	if info, err := os.Lstat(filepath.Join(s.dir, lockName)); err == nil && !info.Mode().IsRegular() {
		return nil, &FileError{filepath.Join(s.dir, lockName), "it is no file; remove it", nil}
	}
	lock := flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		err = errors.Join(err, lock.Close())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &FileError{s.path(), "can't be locked", err}
	}
	return lock, nil
}

// write replaces the file. The caller has the lock.
func (s *store) write(b *book) error {
	text, err := b.encode()
	if err != nil {
		return err
	}
	if err = s.tidy(); err == nil {
		err = durable.Replace(s.path(), temporary, text, 0o600, s.after)
	}
	if err != nil {
		return &FileError{s.path(), "can't be written; the old one is as it was", err}
	}
	if err := durable.SyncFolder(s.dir); err != nil {
		return &FileError{s.path(), "written, but its folder can't be synced, so a loss of power could bring the old one back", err}
	}
	return nil
}

// tidy removes the files of writers that were killed.
func (s *store) tidy() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if left, _ := filepath.Match(temporary, e.Name()); left { // the pattern is a good one
			if err := os.Remove(filepath.Join(s.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
