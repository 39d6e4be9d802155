package term

import (
	"context"
	"errors"
	"io"
	"os"
)

// InputFormats are the formats of standard input.
var InputFormats = []string{"csv", "tsv", "npz", "parquet", "txt"}

// KeepInput copies standard input to a file that its owner alone can read, since formats are read more than once or
// from their ends. The caller must remove it.
func KeepInput(ctx context.Context, in io.Reader, format string) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "dptrain-") // with mode 0700
	if err != nil {
		return "", nil, Input(err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // nothing is left to do about an error
	path, err = Await(ctx, "reading standard input", func() (string, error) {
		path := dir + "/stdin." + format
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", err
		}
		n, err := io.Copy(file, in)
		if err = errors.Join(err, file.Close()); err == nil && n == 0 {
			err = errors.New("it is empty; pipe rows into it")
		}
		return path, err
	})
	if err != nil {
		remove()
		if !errors.Is(err, ErrInterrupted) {
			err = Inputf("standard input: %w", err)
		}
		return "", nil, err
	}
	return path, remove, nil
}
