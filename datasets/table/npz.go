package table

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// npzRows reads the arrays of an archive side by side: row i is element i of the first axis of each.
type npzRows struct {
	arrays []npzArray
	cells  []cell
	n, at  int
}

type npzArray struct {
	field
	*npyArray // nil for one that is skipped
	closer    io.Closer
}

const mostArrays = 1 << 12

func openNPZ(file io.ReaderAt, size int64, wanted func(string) bool) (rows, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, &Error{Problem: fmt.Sprintf("not an NPZ archive: %v", err)}
	}
	if len(archive.File) > mostArrays {
		return nil, &Error{Problem: fmt.Sprintf("%d entries; an NPZ archive has up to %d", len(archive.File), mostArrays)}
	}
	r := &npzRows{}
	for _, entry := range archive.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			return nil, errors.Join(&Error{Problem: fmt.Sprintf("entry %q is no .npy array", entry.Name)}, r.close())
		}
		if err := r.add(name, entry, wanted(name)); err != nil {
			return nil, errors.Join(&Error{Column: name, Problem: err.Error()}, r.close())
		}
	}
	return r, r.checkLengths()
}

func (r *npzRows) add(name string, entry *zip.File, wanted bool) error {
	in, err := entry.Open()
	if err != nil {
		return err
	}
	r.arrays = append(r.arrays, npzArray{field: field{name: name, skipped: !wanted}, closer: in})
	if !wanted {
		return nil // whatever it is
	}
	array, err := newNPYArray(in)
	if err != nil {
		return err
	}
	if array.width == 0 {
		return fmt.Errorf("shape %v: rows without values", array.npyHeader.shape)
	}
	last := &r.arrays[len(r.arrays)-1]
	last.npyArray = array
	if shape := array.npyHeader.shape[1:]; len(shape) > 0 {
		last.field.shape = slices.Clone(shape)
	}
	return nil
}

// checkLengths holds the arrays to one number of rows.
func (r *npzRows) checkLengths() error {
	first := ""
	for _, a := range r.arrays {
		switch {
		case a.skipped:
			continue
		case first == "":
			first, r.n = a.name, a.length()
		case a.length() != r.n:
			return errors.Join(&Error{Column: a.name, Problem: fmt.Sprintf("%d rows, and %s has %d", a.length(), first, r.n)}, r.close())
		}
	}
	return nil
}

func (r *npzRows) fields() []field {
	var out []field
	for _, a := range r.arrays {
		out = append(out, a.field)
	}
	return out
}

func (r *npzRows) where() string { return fmt.Sprintf("row %d", r.at) }

func (r *npzRows) count() (int, error) { return r.n - r.at, nil }

func (r *npzRows) close() error {
	var err error
	for _, a := range r.arrays {
		err = errors.Join(err, a.closer.Close())
	}
	return err
}

func (r *npzRows) next() ([]cell, error) {
	if r.at == r.n {
		return nil, r.end()
	}
	r.at++
	r.cells = r.cells[:0]
	for _, a := range r.arrays {
		if a.skipped {
			continue
		}
		var err error
		if r.cells, err = a.next(r.cells); err != nil {
			return nil, &Error{Row: r.where(), Column: a.name, Problem: err.Error()}
		}
	}
	return r.cells, nil
}

// end returns io.EOF if every array ends where its shape says, with the checksum that the archive says.
func (r *npzRows) end() error {
	for _, a := range r.arrays {
		if a.skipped {
			continue
		}
		var more [1]byte
		if n, err := io.ReadFull(a.in, more[:]); n > 0 {
			return &Error{Column: a.name, Problem: fmt.Sprintf("it has more bytes than shape %v takes", a.npyHeader.shape)}
		} else if !errors.Is(err, io.EOF) {
			return &Error{Column: a.name, Problem: err.Error()}
		}
	}
	return io.EOF
}
