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
	*npyArray // nil if it is skipped
	closer    io.Closer
}

const maxArrays = 1 << 12

func openNPZ(file io.ReaderAt, size int64, wanted func(string) bool) (rows, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		e := failed(err)
		return nil, problemf("not an NPZ archive: %s", e.Problem).citing("%s", e.Private)
	}
	if len(archive.File) > maxArrays {
		return nil, problemf("%d entries; an NPZ archive has up to %d", len(archive.File), maxArrays)
	}
	r := &npzRows{}
	for i, entry := range archive.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			e := problemf("entry %d is no .npy array; save the arrays alone, by np.savez", i+1).citing("it is called %q", entry.Name)
			return nil, errors.Join(e, r.close())
		}
		if err := r.add(name, entry, wanted(name)); err != nil {
			return nil, errors.Join(inColumn(err, name), r.close())
		}
	}
	if err := r.checkLengths(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// add opens an array if it is wanted. Otherwise its name is private, and add returns no error about it.
func (r *npzRows) add(name string, entry *zip.File, wanted bool) error {
	if !wanted {
		r.arrays = append(r.arrays, npzArray{field: field{name: name, skipped: true}})
		return nil
	}
	in, err := entry.Open()
	if err != nil {
		return err
	}
	r.arrays = append(r.arrays, npzArray{field: field{name: name}, closer: in})
	array, err := newNPYArray(in, entry.UncompressedSize64)
	if err != nil {
		return err
	}
	if array.width == 0 || array.width > maxWidth {
		return problemf("rows of no values, or of more than %d", maxWidth).citing("its shape is %v", array.npyHeader.shape)
	}
	last := &r.arrays[len(r.arrays)-1]
	last.npyArray = array
	if shape := array.npyHeader.shape[1:]; len(shape) > 0 {
		last.field.shape = slices.Clone(shape)
	}
	return nil
}

// checkLengths returns an error unless all arrays have the same number of rows.
func (r *npzRows) checkLengths() error {
	first := ""
	for _, a := range r.arrays {
		switch {
		case a.skipped:
			continue
		case first == "":
			first, r.n = a.name, a.length()
		case a.length() != r.n:
			return &Error{Column: a.name, Problem: "another number of rows than an array before it; save them apart", Private: fmt.Sprintf("it has %d, and %s has %d", a.length(), textCell(first).quoted(), r.n)}
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

func (r *npzRows) known() int { return r.n }

func (r *npzRows) close() error {
	for _, a := range r.arrays {
		if a.closer != nil {
			_ = a.closer.Close() // no file is closed, and the error was returned by a read already
		}
	}
	return nil
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
			e := inColumn(err, a.name)
			e.Row = r.where()
			return nil, e
		}
	}
	return r.cells, nil
}

// end returns io.EOF if each array ends where its shape does, with the archive's checksum.
func (r *npzRows) end() error {
	for _, a := range r.arrays {
		if a.skipped {
			continue
		}
		var more [1]byte
		if n, err := io.ReadFull(a.in, more[:]); n > 0 {
			return &Error{Column: a.name, Problem: "it has more bytes than its shape takes", Private: fmt.Sprintf("its shape is %v", a.npyHeader.shape)}
		} else if !errors.Is(err, io.EOF) {
			return inColumn(err, a.name)
		}
	}
	return io.EOF
}
