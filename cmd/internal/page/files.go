package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// File is a file of released/.
type File struct {
	Name   string
	Size   int64  // bytes
	SHA256 string // hexadecimal; empty for other than regular files, which aren't read
}

// maxFiles is the maximum number of files that a page lists. A release has five, and three more for a learning curve.
const maxFiles = 1000

// list returns the files of a folder, by name. It leaves out pages of ours, since a page can't contain its own hash.
func list(root *os.Root) ([]File, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("%w: %s has %d files; want at most %d", ErrNoRun, root.Name(), len(entries), maxFiles)
	}
	var files []File
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		f := File{Name: e.Name()}
		if e.Type().IsRegular() {
			ours, err := f.read(root)
			if err != nil {
				return nil, err
			}
			if ours {
				continue
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// read fills in size and hash. It reports whether the file is a page of ours.
func (f *File) read(root *os.Root) (ours bool, err error) {
	file, _, err := open(root, f.Name, math.MaxInt64)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if isPage(file) {
		return true, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	hash := sha256.New()
	if f.Size, err = io.Copy(hash, file); err != nil {
		return false, err
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return false, nil
}
