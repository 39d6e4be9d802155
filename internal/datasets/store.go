package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dptrain/dptrain/internal/datasets/wordpiece"
)

// DirVariable is the environment variable with the folder of data sets.
const DirVariable = "DPTRAIN_DATA"

// Options say where data sets are, and how to load them: see the library's package.
type Options struct {
	Dir        string // "" for the value of DirVariable, or else none
	Cache      string // "" for the user's
	TextLength int    // in tokens; 0 for 256
	Progress   func(Progress)
}

// Progress is the progress of a task.
type Progress struct {
	Set         string
	Task        string // "downloading", in bytes, or "tokenising", in texts
	File        string // name of the file, or "reviews" for texts
	Done, Total int64
}

// maxTextLength bounds the tokens of a text, which take 8 bytes each.
const maxTextLength = 1 << 14

// file is one file of a known data set.
type file struct {
	name string // with its suffix
	size int64  // 0: not published
	sum  Checksum
	urls []string // besides those on the entry's mirrors
	or   *file    // an equivalent, used instead if in the person's own folder
	tree *tree    // contents of an archive, which may also be unpacked; nil for other files
}

// store finds the files of one data set.
type store struct {
	*entry
	dir        string // "" for none
	cache      string // "" for the user's
	textLength int
	progress   func(Progress)
	stall      time.Duration // time without data after which a download is cut off
}

func (e *entry) store(o Options) (*store, error) {
	s := &store{
		entry: e, dir: cmp.Or(o.Dir, os.Getenv(DirVariable)), cache: o.Cache, textLength: cmp.Or(o.TextLength, imdbLength),
		progress: o.Progress, stall: 30 * time.Second,
	}
	if s.textLength < wordpiece.MinLength || s.textLength > maxTextLength {
		return nil, fmt.Errorf("texts of %d tokens: want %d to %d", s.textLength, wordpiece.MinLength, maxTextLength)
	}
	if s.dir != "" && len(e.files) > 0 { // a built-in set has no folder
		if err := checkDir(s.dir); err != nil {
			return nil, err
		}
	}
	if s.progress == nil {
		s.progress = func(Progress) {}
	}
	return s, nil
}

// checkDir returns an error if the data folder isn't a folder: otherwise a typing error would cause a surprising
// download.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("data folder: %w; set %s to a folder that exists, or unset it", err, DirVariable)
	case !info.IsDir():
		return invalidf("data folder: %s is not a folder; set %s to the folder that has one for each data set, or unset it", dir, DirVariable)
	}
	return nil
}

// tokenising reports how many texts have become tokens.
func (s *store) tokenising(done, total int) {
	s.progress(Progress{Set: s.info.Name, Task: "tokenising", File: "reviews", Done: int64(done), Total: int64(total)})
}

// cacheFolder returns the folder for downloads of this set.
func (s *store) cacheFolder() (string, error) {
	cache := s.cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder: %w; or set %s", err, DirVariable)
		}
		cache = filepath.Join(user, "dptrain")
	}
	return filepath.Join(cache, s.info.Name), nil
}

// folders returns the folders in which the set's files may be, best first.
func (s *store) folders() []string {
	var folders []string
	if s.dir != "" {
		folders = append(folders, filepath.Join(s.dir, s.info.Name))
	}
	if cache, err := s.cacheFolder(); err == nil {
		folders = append(folders, cache)
	}
	return folders
}

// where returns the first folder that has all files in their right sizes, or unpacked archives, and the edition of an
// unpacked one.
func (s *store) where() (folder string, edition State, err error) {
	if len(s.files) == 0 {
		return "built in", OK, nil
	}
	for _, folder := range s.folders() {
		edition, complete := State(""), true
		for _, f := range s.files {
			if unpacked := s.unpacked(f); unpacked != "" && filepath.Dir(unpacked) == folder {
				if edition = Unverified; f.tree.sums != nil {
					status, err := s.status(context.Background(), f)
					if err != nil {
						return "", "", err
					}
					edition = status.State
				}
				complete = complete && edition != Corrupt
			} else {
				f = s.choose(f)
				info, err := os.Stat(filepath.Join(folder, f.name))
				complete = complete && err == nil && (f.size == 0 || info.Size() == f.size)
			}
		}
		if complete {
			return folder, edition, nil
		}
	}
	return "", "", nil
}

// readFile returns the verified contents of f. It downloads f if it isn't here.
func (s *store) readFile(ctx context.Context, f file) (path string, contents []byte, err error) {
	opened, err := s.open(ctx, f)
	if err != nil {
		return "", nil, err
	}
	defer opened.Close()
	contents, err = io.ReadAll(opened)
	return opened.Name(), contents, err
}

// source returns the archive f, or its unpacked folder if the person's own folder has only that.
func (s *store) source(ctx context.Context, f file) (*source, error) {
	if folder := s.unpacked(f); folder != "" {
		return &source{tree: f.tree, path: folder}, nil
	}
	archive, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	return &source{tree: f.tree, path: archive.Name(), archive: archive}, nil
}

// unpacked returns the folder that the archive f was unpacked to, or "" if there is none. It returns "" also if the
// archive is here, since an archive can be verified.
func (s *store) unpacked(f file) string {
	if f.tree == nil || s.dir == "" {
		return ""
	}
	if _, err := os.Stat(filepath.Join(s.dir, s.info.Name, f.name)); err == nil {
		return ""
	}
	folder := filepath.Join(s.dir, s.info.Name, f.tree.name)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder
}

// choose returns f's equivalent if it is in the person's own folder, and otherwise f.
func (s *store) choose(f file) file {
	if f.or != nil && s.dir != "" {
		if _, err := os.Stat(filepath.Join(s.dir, s.info.Name, f.or.name)); err == nil {
			return *f.or
		}
	}
	return f
}

// open opens f and verifies it. It downloads f if it isn't here. A wrong file in the person's own folder is an error;
// one in the cache is downloaded again.
func (s *store) open(ctx context.Context, f file) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f = s.choose(f)
	if s.dir != "" {
		opened, err := f.open(filepath.Join(s.dir, s.info.Name, f.name))
		if !errors.Is(err, fs.ErrNotExist) {
			return opened, err
		}
	}
	folder, err := s.cacheFolder()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, f.name)
	opened, err := f.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrInvalid):
		return s.download(ctx, f, path)
	case err != nil:
		return nil, fmt.Errorf("look into the cache: %w; or set %s", err, DirVariable)
	}
	return opened, nil
}

// status reads f in the first folder that has it.
func (s *store) status(ctx context.Context, f file) (FileStatus, error) {
	if folder := s.unpacked(f); folder != "" {
		return (&source{tree: f.tree, path: folder}).status(ctx, f)
	}
	f = s.choose(f)
	status := FileStatus{Name: f.name, State: Missing, Want: f.sum}
	for _, folder := range s.folders() {
		path := filepath.Join(folder, f.name)
		opened, err := f.open(path)
		var wrong *ChecksumError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.As(err, &wrong):
			status.State, status.Path, status.Sum = Corrupt, path, wrong.Sum
		case err != nil:
			return status, err
		default:
			opened.Close()
			status.State, status.Path, status.Sum = OK, path, f.sum
			if f.size == 0 {
				status.Note = "only the beginning of its SHA-256 is published"
			}
		}
		break
	}
	if status.State == Missing {
		status.Addresses = s.addresses(f)
	}
	return status, nil
}

// open opens the file at path, and returns a [*ChecksumError] unless its contents are f's.
func (f file) open(path string) (*os.File, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := f.check(opened); err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

func (f file) check(opened *os.File) error {
	hash := f.sum.hash()
	size, err := io.Copy(hash, opened)
	if err != nil {
		return err
	}
	if sum := f.sum.of(hash); !f.sum.matches(sum) || f.size != 0 && size != f.size {
		return &ChecksumError{Path: opened.Name(), Want: f.sum, Sum: sum, WantSize: f.size, Size: size}
	}
	_, err = opened.Seek(0, io.SeekStart)
	return err
}
