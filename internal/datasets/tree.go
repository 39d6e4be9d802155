package datasets

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tree is the folder in an archive. It may be unpacked beside the archive, or replace it.
type tree struct {
	name   string            // of the folder, without a slash
	dirs   []string          // with members; "." is the folder itself
	wanted func(string) bool // reports whether a path in the folder, with slashes, is a member
	sums   map[string]string // SHA-256 of the published members; nil if they aren't known
	// check reads all members of any edition and returns an error if their format is wrong.
	check func(context.Context, *source) error
}

// visitor reads one member, or a part of it.
type visitor func(member string, in io.Reader) error

// source is a tree on disk, in its archive or unpacked.
type source struct {
	*tree
	path    string
	archive *os.File // verified; nil if path is a folder
	// unofficial are the members read from a folder that differ from the published ones.
	unofficial []string
}

// edition returns the edition of the members, once all are read.
func (s *source) edition() State {
	switch {
	case s.archive != nil:
		return OK
	case s.sums == nil:
		return Unverified
	case len(s.unofficial) > 0:
		return Unofficial
	}
	return OK
}

func (s *source) close() error {
	if s.archive != nil {
		return s.archive.Close()
	}
	return nil
}

// status reads all members of a folder.
func (s *source) status(ctx context.Context, f file) (FileStatus, error) {
	status := FileStatus{Name: s.name, Path: s.path}
	err := s.check(ctx, s)
	status.State = s.edition()
	switch {
	case errors.Is(err, ErrInvalid):
		status.State, status.Note = Corrupt, err.Error()
	case err != nil:
		return status, err
	case status.State == Unofficial:
		status.Note = "in the right format, but not the official edition: " + strings.Join(s.unofficial, ", ")
	case status.State == Unverified:
		status.Note = "complete and in the right format; of the unpacked files there are no published checksums, only of " + f.name
	}
	return status, nil
}

// each visits all members, in the order of their names in a folder and in the archive's own order.
func (s *source) each(ctx context.Context, visit visitor) error {
	var err error
	if s.archive != nil {
		err = s.eachPacked(ctx, s.archive, visit)
	} else {
		err = s.eachUnpacked(ctx, visit)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// eachPacked visits the members of a tar archive compressed with gzip, whose checksum was verified. Nothing is unpacked
// to disk. It skips entries that aren't members.
func (t *tree) eachPacked(ctx context.Context, archive io.Reader, visit visitor) error {
	unpacked, err := gzip.NewReader(archive)
	if err != nil {
		return unpackError(err)
	}
	for in := tar.NewReader(unpacked); ; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil // the checksum covers the rest
		}
		if err != nil {
			return unpackError(err)
		}
		member, inside := strings.CutPrefix(path.Clean(header.Name), t.name+"/")
		if !inside || header.Typeflag != tar.TypeReg || !t.wanted(member) {
			continue
		}
		if err := visit(member, in); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

// eachUnpacked visits the members in the folder, and compares them with the published ones.
func (s *source) eachUnpacked(ctx context.Context, visit visitor) error {
	for _, dir := range s.dirs {
		entries, err := os.ReadDir(filepath.Join(s.path, filepath.FromSlash(dir)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the caller reports its missing members
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			member := path.Join(dir, e.Name())
			if !s.wanted(member) {
				continue
			}
			if err := s.visitFile(member, visit); err != nil {
				return fmt.Errorf("%s: %w", member, err)
			}
		}
	}
	return nil
}

func (s *source) visitFile(member string, visit visitor) error {
	file, err := os.Open(filepath.Join(s.path, filepath.FromSlash(member)))
	if err != nil {
		return err
	}
	defer file.Close()
	if s.sums == nil {
		return visit(member, file)
	}
	hash := sha256.New()
	in := io.TeeReader(file, hash)
	if err := visit(member, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != s.sums[member] {
		s.unofficial = append(s.unofficial, member)
	}
	return nil
}

// unpackError returns the error of a wrong archive. An error of the disk remains as it is.
func unpackError(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return invalidf("unpack: %s", describe(err))
}
