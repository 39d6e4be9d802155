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
	"slices"
	"strings"
)

// tree is the folder in an archive. It may be unpacked beside the archive, or replace it.
type tree struct {
	name   string            // of the folder, without a slash
	dirs   []string          // with members; "." is the folder itself
	wanted func(string) bool // reports whether a path in the folder, with slashes, is a member
	limit  int64             // maximum size of a member in bytes
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

// quickEdition returns the edition of a folder without checking its members' format, and [Missing] if members with a
// known checksum aren't there.
func (s *source) quickEdition() (State, error) {
	seen := 0
	if s.sums == nil {
		return Unverified, nil
	}
	err := s.eachUnpacked(context.Background(), func(string, io.Reader) error {
		seen++
		return nil
	})
	switch {
	case errors.Is(err, ErrInvalid):
		return Unofficial, nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", s.path, err)
	case seen < len(s.sums):
		return Missing, nil
	}
	return s.edition(), nil
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

// eachPacked visits the members of a tar archive compressed with gzip. Nothing is unpacked to disk. It skips entries
// that aren't members. An entry outside of the folder is an error, as is a member that occurs twice, is a link, or is
// longer than the tree's limit.
func (t *tree) eachPacked(ctx context.Context, archive io.Reader, visit visitor) error {
	unpacked, err := gzip.NewReader(archive)
	if err != nil {
		return unpackError(err)
	}
	return t.eachEntry(ctx, tar.NewReader(unpacked), visit)
}

func (t *tree) eachEntry(ctx context.Context, in *tar.Reader, visit visitor) error {
	seen := map[string]bool{}
	for {
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
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		member, err := t.member(header.Name)
		if err != nil {
			return err
		}
		switch {
		case !t.wanted(member):
			continue
		case seen[member]:
			return invalidf("has %s twice", header.Name)
		case header.Typeflag != tar.TypeReg:
			return invalidf("%s is not a plain file", header.Name)
		case header.Size > t.limit:
			return invalidf("%s has %d bytes, which is more than the %d that it may have", header.Name, header.Size, t.limit)
		}
		seen[member] = true
		if err := visit(member, in); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

// member returns the path in the tree of an entry of the archive.
func (t *tree) member(entry string) (string, error) {
	clean := path.Clean(entry)
	if clean == "." || clean == t.name {
		return ".", nil
	}
	member, inside := strings.CutPrefix(clean, t.name+"/")
	// A path with ".." is suspicious even if it ends inside.
	if !inside || slices.Contains(strings.Split(entry, "/"), "..") {
		return "", invalidf("entry %q is outside the folder %s", entry, t.name)
	}
	return member, nil
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
	name := filepath.Join(s.path, filepath.FromSlash(member))
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return invalidf("not a plain file")
	}
	if info.Size() > s.limit {
		return invalidf("%d bytes, which is more than the %d that it may have", info.Size(), s.limit)
	}
	file, err := os.Open(name)
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
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return invalidf("unpack: %s", describe(err))
}
