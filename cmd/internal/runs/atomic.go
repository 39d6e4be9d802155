package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dptrain/dptrain/internal/durable"
)

// temporary begins the names of files and folders that are being written.
const temporary = ".new-"

func writeFile(path string, content []byte, mode fs.FileMode) error {
	return durable.WriteFile(path, temporary+"*", content, mode)
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
