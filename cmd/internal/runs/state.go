package runs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/durable"
)

// Save replaces the state under a name, durably and whole. With Load and Remove it makes a Run a train.Store.
func (r *Run) Save(name string, content []byte) error {
	path, err := r.stateFile(name)
	if err != nil {
		return err
	}
	return writeFile(path, content, 0o600)
}

// Load returns the state under a name, or nil for none.
func (r *Run) Load(name string) ([]byte, error) {
	path, err := r.stateFile(name)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Remove removes the state under a name.
func (r *Run) Remove(name string) error {
	path, err := r.stateFile(name)
	if err != nil {
		return err
	}
	return removed(path)
}

func (r *Run) stateFile(name string) (string, error) {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("keep state %q: want lower-case letters, digits and -", name)
	}
	return filepath.Join(r.private(stateName), name), nil
}

// Reserve reserves space on the disk, in bytes, which [Run.Finish] and [Run.Stop] free before they write. So a disk
// that is too small is an error before training, and a disk that fills up during training has room for its end.
func (r *Run) Reserve(bytes int64) (err error) {
	file, err := os.OpenFile(r.private(reserveName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("reserve space: %w", err)
	}
	// Random content, lest the file system store zeros as a hole or compress them.
	_, err = io.CopyN(file, rand.Reader, bytes)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("reserve %d MB for the run's states and its model: %w", (bytes+1e6-1)/1e6, durable.Reason(err)), r.Unreserve())
	}
	return nil
}

// Unreserve gives reserved space back.
func (r *Run) Unreserve() error { return removed(r.private(reserveName)) }
