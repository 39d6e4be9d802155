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
	header []field
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
		a := npzArray{field: field{name: name, skipped: true}}
		if wanted(name) {
			if err := a.open(entry); err != nil {
				e := failed(err)
				a.problem, a.cited, a.skipped = e.Problem, e.Private, true
			}
		}
		r.arrays = append(r.arrays, a)
	}
	r.level()
	for _, a := range r.arrays {
		r.header = append(r.header, a.field)
	}
	return r, nil
}

// open opens an array. An array that can't be read has a number of rows nevertheless, if its header says one.
func (a *npzArray) open(entry *zip.File) error {
	in, err := entry.Open()
	if err != nil {
		return err
	}
	a.closer = in
	array, err := newNPYArray(in, entry.UncompressedSize64)
	if shape := array.npyHeader.shape; len(shape) > 0 {
		a.rows = shape[0]
	}
	if err != nil {
		return err
	}
	if array.width == 0 || array.width > maxWidth {
		return problemf("rows of no values, or of more than %d", maxWidth).citing("its shape is %v", array.npyHeader.shape)
	}
	a.npyArray, a.skipped = array, false
	if shape := array.npyHeader.shape[1:]; len(shape) > 0 {
		a.field.shape = slices.Clone(shape)
	}
	return nil
}

// level sets the number of rows to that of the arrays that have the most bytes together, and skips arrays with another
// one, such as the names of columns. It is for the caller to say whether that is an error.
func (r *npzRows) level() {
	bytes := map[int]int64{}
	for _, a := range r.arrays {
		if !a.skipped {
			bytes[a.rows] += a.bytes()
			if more := bytes[a.rows] - bytes[r.n]; more > 0 || more == 0 && a.rows > r.n {
				r.n = a.rows
			}
		}
	}
	for i := range r.arrays {
		r.arrays[i].skipped = r.arrays[i].skipped || r.arrays[i].rows != r.n
	}
}

func (r *npzRows) fields() []field { return r.header }

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
