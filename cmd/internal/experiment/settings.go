package experiment

import (
	"fmt"
	"io"
	"os"
)

// maxSettings bounds a settings file, in bytes. A preset takes a thousandth of it.
const maxSettings = 1 << 20

// ReadSettings reads a settings file, which may be a pipe or a terminal. The size is limited, so that a file without an
// end is an error.
func ReadSettings(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err == nil && len(text) > maxSettings {
		err = fmt.Errorf("%s: more than %d bytes; give a file of settings", path, maxSettings)
	}
	return text, err
}
