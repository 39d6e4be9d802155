package page

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// ErrNoRun reports a folder that isn't a run, or a run whose files can't be read.
var ErrNoRun = errors.New("no run to report on")

// read returns the content of a regular file below root, or nil if there is none. It follows no link: a link in
// released/ could lead to a private file.
func read(root *os.Root, name string) ([]byte, error) {
	// Lstat comes first: opening a pipe could wait for a writer forever.
	switch info, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s/%s isn't a regular file", ErrNoRun, root.Name(), name)
	}
	return root.ReadFile(name)
}

// readJSON decodes a file into v. It returns false if there is no such file.
func readJSON(root *os.Root, name string, v any) (found bool, err error) {
	text, err := read(root, name)
	if text == nil || err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("%w: %s/%s: %w", ErrNoRun, root.Name(), name, err)
	}
	return true, nil
}

const manifestVersion = 1

// readManifest reads a run's public run.json, of which every field may be missing.
func readManifest(top *os.Root) (*runs.Manifest, error) {
	var m runs.Manifest
	found, err := readJSON(top, "run.json", &m)
	if err != nil || !found {
		return nil, err
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%w: %s/run.json has version %d, and this dptrain reads version %d; use the one that made it",
			ErrNoRun, top.Name(), m.Version, manifestVersion)
	}
	if m.Stage != "" && m.Stage != runs.Finished {
		return nil, fmt.Errorf("%w: the run in %s is %s; give the folder of a finished run", ErrNoRun, top.Name(), m.Stage)
	}
	return &m, nil
}

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
			content, err := read(root, f.Name)
			if err != nil {
				return nil, err
			}
			f.Size, f.SHA256 = int64(len(content)), fmt.Sprintf("%x", sha256.Sum256(content))
		}
		files = append(files, f)
	}
	return files, nil
}
