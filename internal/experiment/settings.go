package experiment

import (
	"fmt"
	"io"
	"os"
)

// mostSettings bounds a settings file. The presets have a thousandth of it.
const mostSettings = 1 << 20

// ReadSettings reads a settings file, which may be a pipe or a terminal without an end.
func ReadSettings(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSettings+1))
	if err == nil && len(text) > mostSettings {
		err = fmt.Errorf("%s: more than %d bytes; give a file of settings", path, mostSettings)
	}
	return text, err
}
