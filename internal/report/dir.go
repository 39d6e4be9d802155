package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrExists reports that the run directory is already there.
var ErrExists = errors.New("already exists")

// Dir is a run directory that is being written. Nothing exists at its path until [Dir.Publish].
type Dir struct {
	path       string
	partial    string
	madeParent bool
	began      time.Time
}

// Create makes the directory's working copy beside path, so it fails if path can't be written. If path exists, the
// error wraps [ErrExists].
func Create(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		return nil, fmt.Errorf("output directory %s %w", path, ErrExists)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("output directory: %w", err)
	}
	parent := filepath.Dir(path)
	_, err = os.Lstat(parent)
	d := &Dir{path: path, madeParent: errors.Is(err, fs.ErrNotExist), began: time.Now()}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	d.partial, err = os.MkdirTemp(parent, "."+filepath.Base(path)+".partial-")
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	if err := errors.Join(os.Mkdir(d.released(""), 0o755), os.Mkdir(d.private(""), 0o700)); err != nil {
		return nil, errors.Join(fmt.Errorf("output directory: %w", err), d.Discard())
	}
	return d, nil
}

// Path returns the directory's final absolute path.
func (d *Dir) Path() string { return d.path }

func (d *Dir) released(name string) string { return filepath.Join(d.partial, "released", name) }
func (d *Dir) private(name string) string  { return filepath.Join(d.partial, "private", name) }

// Log opens the private log for writing. The caller closes it before Publish.
func (d *Dir) Log() (*os.File, error) {
	f, err := os.OpenFile(d.private("log.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// WritePrivate writes a file into private/.
func (d *Dir) WritePrivate(name string, content []byte) error {
	return write(d.private(name), content, 0o600)
}

// WritePrivateJSON writes a value into private/ as JSON.
func (d *Dir) WritePrivateJSON(name string, value any) error {
	text, err := indented(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return d.WritePrivate(name, text)
}

// date sets the modification time of everything but the files in private/ to 00:00 UTC of the day that the run began.
// Copies and archives keep modification times, and anyone who can list the run directory sees them. With the time of
// the beginning, which the directory's default name contains, the time of the end gives the run's duration, and so
// about the number of trials. Change times, and the parent directory's times, can't be set; copies don't keep them.
func (d *Dir) date() error {
	day := d.began.UTC().Truncate(24 * time.Hour)
	return filepath.WalkDir(d.partial, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if filepath.Dir(path) == d.private("") {
			return nil
		}
		return os.Chtimes(path, day, day)
	})
}

// open gives the run directory the permissions of released/, which the user's umask gave. Before that, only the owner
// can look inside.
func (d *Dir) open() error {
	info, err := os.Stat(d.released(""))
	if err != nil {
		return err
	}
	return os.Chmod(d.partial, info.Mode().Perm())
}

// Publish renames the finished directory to its path. If something was created at path since [Create], Publish uses the
// first free one of path-2, path-3, …, so that hours of training aren't lost. [Dir.Path] then returns the new path.
func (d *Dir) Publish() error {
	if err := errors.Join(d.open(), d.date()); err != nil {
		return d.unpublished(err)
	}
	wanted := d.path
	for n := 2; ; n++ {
		err := os.Rename(d.partial, d.path)
		if err == nil {
			return nil
		}
		if _, taken := os.Lstat(d.path); taken != nil || n > 1000 {
			return d.unpublished(err)
		}
		d.path = fmt.Sprintf("%s-%d", wanted, n)
	}
}

func (d *Dir) unpublished(err error) error {
	return fmt.Errorf("publish run: %w; it is finished and kept in %s", err, d.partial)
}

// Discard removes the working copy, and the parent directory if Create made it and it is empty. After Publish it does
// nothing.
func (d *Dir) Discard() error {
	if err := os.RemoveAll(d.partial); err != nil {
		return fmt.Errorf("remove unfinished run: %w", err)
	}
	if d.madeParent {
		_ = os.Remove(filepath.Dir(d.path)) // fails, rightly, unless it is empty
	}
	return nil
}

func write(path string, content []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path, content, mode); err != nil {
		return fmt.Errorf("write run directory: %w", err)
	}
	return nil
}

func indented(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false) // people read classes such as <=50K
	err := enc.Encode(value)
	return b.Bytes(), err
}
