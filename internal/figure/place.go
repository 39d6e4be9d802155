package figure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2/maybe"
)

var (
	// ErrExists reports that a file of the figure exists.
	ErrExists = errors.New("already exists")
	// ErrFormat reports a file name whose extension is no format of a figure.
	ErrFormat = errors.New("no format for a figure")
)

// Place is a folder and the names of the files in it that a figure is written to.
type Place struct {
	dir, name string
	formats   []format
	made      bool
}

// Reserve checks that a figure can be written to dir as NAME.csv, NAME.pdf, NAME.png and NAME.svg; call it before
// computing the figure, which can take minutes. It makes dir if need be. If one of the files exists, the error wraps
// [ErrExists].
func Reserve(dir, name string) (*Place, error) {
	p := &Place{dir: dir, name: name, formats: formats}
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
	paths := make([]string, len(p.formats))
	for i, f := range p.formats {
		paths[i] = filepath.Join(p.dir, p.name+"."+f.extension)
	}
	return paths
}

// Files are a figure's files, one for each format of a place.
type Files [][]byte

// Encode draws the figure in every format of the place, which takes seconds for many panels.
func (p *Place) Encode(f Figure) (Files, error) {
	files := make(Files, len(p.formats))
	for i, format := range p.formats {
		var err error
		if files[i], err = format.encode(f); err != nil {
			return nil, fmt.Errorf("make a figure's %s: %w", format.extension, err)
		}
	}
	return files, nil
}

// Write writes the files and returns their paths. No file is ever visible half written.
func (p *Place) Write(files Files) ([]string, error) {
	paths := p.paths()
	for i, path := range paths {
		if err := maybe.WriteFile(path, files[i], 0o644); err != nil {
			return nil, fmt.Errorf("write figure: %w", err)
		}
	}
	return paths, nil
}

// Discard removes the folder if Reserve made it and it is empty.
func (p *Place) Discard() {
	if p.made {
		_ = os.Remove(p.dir) // fails if it isn't empty, as it should
	}
}

// File is a figure in one format.
type File struct {
	Extension string // csv, pdf, png or svg
	Content   []byte
}

// Encode draws a figure in every format.
func Encode(f Figure) ([]File, error) { return encode(f, formats) }

// EncodeAs draws a figure in the formats with the given extensions, of csv, pdf, png and svg.
func EncodeAs(f Figure, extensions ...string) ([]File, error) {
	var some []format
	for _, wanted := range extensions {
		at := slices.IndexFunc(formats, func(f format) bool { return f.extension == wanted })
		if at < 0 {
			return nil, fmt.Errorf("%s: %w; a figure's file ends in .csv, .pdf, .png or .svg", wanted, ErrFormat)
		}
		some = append(some, formats[at])
	}
	return encode(f, some)
}

func encode(f Figure, formats []format) ([]File, error) {
	files, err := (&Place{formats: formats}).Encode(f)
	if err != nil {
		return nil, err
	}
	out := make([]File, len(files))
	for i := range files {
		out[i] = File{formats[i].extension, files[i]}
	}
	return out, nil
}
