package figure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// ErrExists reports that a file of the figure exists.
var ErrExists = errors.New("already exists")

// Place is the folder and the file name to which a figure is written.
type Place struct {
	dir, name string
	made      bool
}

// Reserve checks that a figure can be written to dir as NAME.csv, NAME.pdf, NAME.png and NAME.svg; call it before
// computing the figure, which can take minutes. It makes dir if necessary. If one of the files exists, the error wraps
// [ErrExists].
func Reserve(dir, name string) (*Place, error) {
	p := &Place{dir: dir, name: name}
	for _, extension := range extensions {
		if _, err := os.Lstat(p.path(extension)); err == nil {
			return nil, fmt.Errorf("%s %w", p.path(extension), ErrExists)
		}
	}
	_, err := os.Lstat(dir)
	p.made = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	probe, err := os.CreateTemp(dir, "."+name+"-")
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	return p, nil
}

func (p *Place) path(extension string) string { return filepath.Join(p.dir, p.name+"."+extension) }

// Write writes the files and returns their paths. No file is ever visible half written.
func (p *Place) Write(files []File) ([]string, error) {
	var paths []string
	for _, f := range files {
		path := p.path(f.Extension)
		if err := maybe.WriteFile(path, f.Content, 0o644); err != nil {
			return nil, fmt.Errorf("write figure: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Discard removes the folder if Reserve made it and it is empty.
func (p *Place) Discard() {
	if p.made {
		_ = os.Remove(p.dir) // fails if it isn't empty, as it should
	}
}
