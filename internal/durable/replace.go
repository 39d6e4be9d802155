package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces a file by [Replace] and syncs its folder. Unlike renameio it works on Windows too.
func WriteFile(path, pattern string, content []byte, mode fs.FileMode) error {
	if err := Replace(path, pattern, content, mode, nil); err != nil {
		return fmt.Errorf("write %s: %w", path, Reason(err))
	}
	return SyncFolder(filepath.Dir(path))
}

// Reason returns the first of joined errors, without the temporary name of its file: on a full disk, every call after
// the first failure repeats it.
func Reason(err error) error {
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) && len(all.Unwrap()) > 0 {
		err = all.Unwrap()[0]
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return file.Err
	}
	return err
}

// Replace replaces a file: it writes the new content beside it, in a file whose name is made of a pattern as
// [os.CreateTemp] does, synchronises that with the disk, and renames it. A killed process leaves at most that file. If
// after isn't nil, it is called after each step, for tests.
func Replace(path, pattern string, content []byte, mode fs.FileMode, after func(step string)) error {
	if after == nil {
		after = func(string) {}
	}
	file, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return err
	}
	after("create")
	_, err = file.Write(content)
	after("write")
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	after("close")
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	after("rename")
	return nil
}
