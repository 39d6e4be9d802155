package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dptrain/dptrain/internal/durable"
)

// temporary begins the names of files and folders that are being written.
const temporary = ".new-"

// writeFile replaces a file so that after a crash of the machine either the old or the new content is there. Unlike
// renameio it synchronises the folder too, and it works on Windows.
func writeFile(path string, content []byte, mode fs.FileMode) error {
	if err := durable.Replace(path, temporary+"*", content, mode, nil); err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// reason returns the first of joined errors, without the temporary name of its file: on a full disk, every call after
// the first failure repeats it.
func reason(err error) error {
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) && len(all.Unwrap()) > 0 {
		err = all.Unwrap()[0]
	}
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Err
	}
	return err
}

// removed removes a file that may be missing.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFiles writes all files below a folder, and the folders, to the disk.
func syncFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && runtime.GOOS == "windows" {
			return err
		}
		flag := os.O_RDONLY
		if runtime.GOOS == "windows" {
			flag = os.O_RDWR // its Sync needs a file that can be written
		}
		file, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}
