package figure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// ErrExists says that a file of the figure is already there.
var ErrExists = errors.New("already exists")

// A Place is a directory that a figure's files can be written to, as NAME.csv, NAME.pdf, NAME.png and NAME.svg.
type Place struct {
	dir, name string
	made      bool
}

// Reserve finds out whether a figure can be written to dir, which it makes if need be, before the figure
// is computed. It never gives way to an older figure: that is an error that wraps [ErrExists].
func Reserve(dir, name string) (*Place, error) {
	p := &Place{dir: dir, name: name}
	for _, path := range p.paths() {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s %w", path, ErrExists)
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

func (p *Place) paths() []string {
	paths := make([]string, len(formats))
	for i, f := range formats {
		paths[i] = filepath.Join(p.dir, p.name+"."+f.extension)
	}
	return paths
}

// Files are a figure in every format.
type Files [][]byte

// Encode draws the figure in every format. Many panels take long.
func Encode(f Figure) (Files, error) {
	files := make(Files, len(formats))
	for i, format := range formats {
		var err error
		if files[i], err = format.encode(f); err != nil {
			return nil, fmt.Errorf("make a figure's %s: %w", format.extension, err)
		}
	}
	return files, nil
}

// Write stores the files and returns their paths. No file is ever there in part.
func (p *Place) Write(files Files) ([]string, error) {
	paths := p.paths()
	for i, path := range paths {
		if err := maybe.WriteFile(path, files[i], 0o644); err != nil {
			return nil, fmt.Errorf("write figure: %w", err)
		}
	}
	return paths, nil
}

// Discard gives up: it removes the directory if Reserve made it and nothing is in it.
func (p *Place) Discard() {
	if p.made {
		_ = os.Remove(p.dir) // fails if something is in it, as it should
	}
}
