package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"
)

// ErrExists reports that a page's path is taken by something that isn't a page of ours.
var ErrExists = errors.New("already exists and isn't a report")

// ErrPlace reports a path at which no page can be written.
var ErrPlace = errors.New("no place for a report")

// Place has the paths of pages.
type Place struct {
	Public  string
	Private string

	run string // the run's folder that has the pages, or ""
}

// PlaceOf returns the default place of one run's pages, in its folder. A copy of released/ alone has none.
func PlaceOf(run string) (Place, error) {
	if info, err := os.Lstat(filepath.Join(run, "released")); err != nil || !info.IsDir() {
		return Place{}, fmt.Errorf("%w: %s isn't a run's whole folder", ErrPlace, run)
	}
	return Place{Public: filepath.Join(run, "report.html"), Private: filepath.Join(run, "private", "report.html"), run: run}, nil
}

// PlaceAt returns the place of a public page and, in a folder private beside it, of a private one. The path must end in
// .html.
func PlaceAt(path string) (Place, error) {
	if name := filepath.Base(path); filepath.Ext(name) != ".html" || name == ".html" {
		return Place{}, fmt.Errorf("%w: %s doesn't end in .html", ErrPlace, path)
	}
	return Place{Public: path, Private: filepath.Join(filepath.Dir(path), "private", filepath.Base(path))}, nil
}

// Check returns an error if the pages can't be written. If something else is in their way, the error wraps [ErrExists].
func (p Place) Check(private bool) error {
	if err := replaceable(p.Public); err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Dir(p.Public)); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %s isn't a folder", ErrPlace, filepath.Dir(p.Public))
	}
	if !private {
		return nil
	}
	// A link could lead out of the private folder.
	if info, err := os.Lstat(filepath.Dir(p.Private)); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w", filepath.Dir(p.Private), ErrExists)
	}
	return replaceable(p.Private)
}

// replaceable returns an error unless the path is free or has a page of ours.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if !isPage(file) {
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	return nil
}

// Write writes the pages of the runs, the private one only if it isn't nil, and returns their paths. Pages of ours are
// replaced; no page is ever visible half written. The pages, and a run's folders around them, get the release's
// modification time: if a script makes a report right after a run, the report's own time would reveal the run's
// duration.
func (p Place) Write(runs []Run, public, private []byte) ([]string, error) {
	if err := p.Check(private != nil); err != nil {
		return nil, err
	}
	var day time.Time
	for _, r := range runs {
		if r.day.After(day) {
			day = r.day
		}
	}
	restore := p.keepTimes()
	paths := []string{p.Public}
	if private != nil {
		if err := writePrivate(p.Private, private); err != nil {
			return nil, fmt.Errorf("write report: %w", err)
		}
		paths = append(paths, p.Private)
	}
	if err := maybe.WriteFile(p.Public, public, 0o644); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	var failed error
	for _, path := range paths {
		failed = errors.Join(failed, os.Chtimes(path, day, day))
	}
	return paths, errors.Join(failed, restore())
}

func writePrivate(path string, content []byte) error {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The new file gets the mode of the one that it replaces.
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return maybe.WriteFile(path, content, 0o600)
}

// keepTimes returns a function that restores the present modification times of a run's folders.
func (p Place) keepTimes() func() error {
	if p.run == "" {
		return func() error { return nil }
	}
	times := map[string]time.Time{}
	for _, dir := range []string{p.run, filepath.Join(p.run, "private")} {
		if info, err := os.Stat(dir); err == nil {
			times[dir] = info.ModTime()
		}
	}
	return func() error {
		var failed error
		for dir, at := range times {
			failed = errors.Join(failed, os.Chtimes(dir, at, at))
		}
		if failed != nil {
			failed = fmt.Errorf("the report is written, but a folder's time now says when: %w", failed)
		}
		return failed
	}
}
