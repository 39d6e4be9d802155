package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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
