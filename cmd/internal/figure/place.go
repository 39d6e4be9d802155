package figure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// ErrExists reports that a file of the figure exists.
var ErrExists = errors.New("already exists")

func pathOf(dir, name, extension string) string { return filepath.Join(dir, name+"."+extension) }

// Check makes dir if necessary. It returns an error that wraps [ErrExists] if a figure's files are there already:
// NAME.csv, NAME.pdf, NAME.png and NAME.svg. Call it before computing the figure, which can take minutes.
func Check(dir, name string) error {
	for _, extension := range extensions {
		path := pathOf(dir, name, extension)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s %w", path, ErrExists)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("output directory: %w", err)
	}
	return nil
}

// Write writes a figure's files to dir and returns their paths. No file is ever visible half written.
func Write(dir, name string, files []File) ([]string, error) {
	var paths []string
	for _, f := range files {
		path := pathOf(dir, name, f.Extension)
		if err := maybe.WriteFile(path, f.Content, 0o644); err != nil {
			return nil, fmt.Errorf("write figure: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
