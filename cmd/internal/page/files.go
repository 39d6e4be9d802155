package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// File is a file of released/.
type File struct {
	Name   string
	Size   int64  // bytes
	SHA256 string // hexadecimal; empty for other than regular files, which aren't read
}

// list returns the files of a folder, by name. It leaves out web pages, since a report can't contain its own hash.
func list(root *os.Root) ([]File, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	var files []File
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) == ".html" {
			continue
		}
		f := File{Name: e.Name()}
		if e.Type().IsRegular() {
			if err := f.read(root); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// read fills in size and hash.
func (f *File) read(root *os.Root) error {
	file, err := open(root, f.Name, math.MaxInt64)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	f.Size, err = io.Copy(hash, file)
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return err
}
